import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import type { Notifier } from "../../src/notify/notifier.ts";
import { createSlackNotifier } from "../../src/notify/slack/send.ts";
import { assertWithinSlackLimits, type SlackAnswer, type SlackSink, startSlackSink } from "../support/slack-sink.ts";
import { describeChannel, type Fault, type Rig, type RigOptions } from "./contract.ts";
import { alertOf, NOW, notificationOf } from "./fixtures.ts";

const CANARY = "c4n4ryc4n4ryc4n4ry";
const NOTIFICATION = notificationOf({ firing: [alertOf("Till 3")] });

interface SlackRig extends Rig {
  readonly sink: SlackSink;
}

async function startRig({ timeoutMs, log }: RigOptions): Promise<SlackRig> {
  const sink = await startSlackSink();
  const apiUrl = `${new URL(sink.url).origin}/services/T0/B0/${CANARY}?token=${CANARY}-query`;
  const notifier = createSlackNotifier({ apiUrl, timeoutMs, log });
  return {
    sink,
    notifier,
    secrets: [CANARY, apiUrl],
    accepted: () => sink.messages.length,
    hang: () => sink.respond("hang"),
    vanish: () => sink.close(),
    async close() {
      await notifier.close();
      await sink.close();
    },
  };
}

function answering(
  answer: SlackAnswer,
  code: Fault<SlackRig>["code"],
  scope: Fault<SlackRig>["scope"] = "endpoint",
): Fault<SlackRig> {
  return {
    when: `Slack answers ${answer.status} ${answer.body ?? ""}`.trim(),
    arrange: ({ sink }) => sink.respond(answer),
    code,
    scope,
    retryable: scope === "endpoint",
  };
}

describeChannel("Slack", startRig, [
  answering({ status: 400, body: "invalid_blocks" }, "bad_request", "message"),
  answering({ status: 413, body: `<html>${CANARY}</html>` }, "bad_request", "message"),
  answering({ status: 400, body: "invalid_token" }, "auth"),
  answering({ status: 401, body: "no" }, "auth"),
  answering({ status: 403, body: "action_prohibited" }, "auth"),
  answering({ status: 404, body: "no_service" }, "not_found"),
  answering({ status: 410, body: "channel_is_archived" }, "not_found"),
  answering({ status: 408 }, "timeout"),
  answering({ status: 429, body: "rate_limited" }, "rate_limited"),
  answering({ status: 500, body: "server_error" }, "server_error"),
  answering({ status: 503 }, "server_error"),
  answering({ status: 200, body: `<html>Sign in to the guest network ${CANARY}</html>` }, "other"),
  answering({ status: 204 }, "other"),
  answering({ status: 302, headers: { location: `https://elsewhere.example/${CANARY}` } }, "other"),
]);

describe("Slack's sender", () => {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    vi.unstubAllEnvs();
  });

  async function sink(): Promise<SlackSink> {
    const made = await startSlackSink();
    cleanups.push(() => made.close());
    return made;
  }

  function notifier(apiUrl: string): Notifier {
    const clock = { now: () => NOW };
    const made = createSlackNotifier({ apiUrl, timeoutMs: 60_000, log: silentLogger, clock });
    cleanups.push(() => made.close());
    return made;
  }

  async function failure(of: Notifier): Promise<unknown> {
    return of.send(NOTIFICATION, { signal: new AbortController().signal }).catch((thrown: unknown) => thrown);
  }

  async function listen(server: Server): Promise<string> {
    cleanups.push(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  it("posts blocks with a colour, and text alone when plain", async () => {
    const { url, messages } = await sink();
    const slack = notifier(url);
    await slack.send(NOTIFICATION, { signal: new AbortController().signal });
    await slack.send(NOTIFICATION, { signal: new AbortController().signal, plain: true });
    for (const { body } of messages) assertWithinSlackLimits(body);
    expect(messages[0]?.text).toMatch(/^🔴 Till 3 offline · Leeds Briggate\n/);
    expect(messages[0]?.shown).toContain("Since 14:05 GMT (12 m)");
    expect(messages[0]?.color).toBe("#d32f2f");
    expect(Object.keys(messages[1]?.body ?? {})).not.toContain("blocks");
    expect(Object.keys(messages[1]?.body ?? {})).not.toContain("attachments");
    expect(messages[1]?.text).toContain("Since 14:05 GMT (12 m)");
  });

  it("sends once: a failure is the caller's to try again", async () => {
    const { url, messages, respond } = await sink();
    respond({ status: 500 });
    await failure(notifier(url));
    expect(messages).toHaveLength(1);
  });

  it.each([
    { header: "30", ms: 30_000 },
    { header: "0", ms: 0 },
    { header: new Date(NOW + 90_000).toUTCString(), ms: 90_000 },
    { header: new Date(NOW - 90_000).toUTCString(), ms: 0 },
    { header: "soon", ms: undefined },
  ])("keeps the Retry-After of a 429: $header", async ({ header, ms }) => {
    const { url, respond } = await sink();
    respond({ status: 429, headers: { "retry-after": header }, body: "rate_limited" });
    expect(await failure(notifier(url))).toMatchObject({ code: "rate_limited", retryAfterMs: ms });
  });

  it("keeps the Retry-After of a 503", async () => {
    const { url, respond } = await sink();
    respond({ status: 503, headers: { "retry-after": "7" } });
    expect(await failure(notifier(url))).toMatchObject({ code: "server_error", retryAfterMs: 7_000 });
  });

  it("follows no redirect", async () => {
    const [asked, elsewhere] = [await sink(), await sink()];
    asked.respond({ status: 307, headers: { location: elsewhere.url } });
    expect(await failure(notifier(asked.url))).toMatchObject({ code: "other" });
    expect(elsewhere.messages).toHaveLength(0);
  });

  it("reads no more of an endless answer than it needs", async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", pour);
      pour();
    });
    expect(await failure(notifier(await listen(server)))).toMatchObject({ code: "other" });
  });

  it("treats an answer that breaks off as not accepted", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-length": "2" });
      response.write("o", () => response.destroy());
    });
    expect(await failure(notifier(await listen(server)))).toMatchObject({ code: "network", retryable: true });
  });

  it("does not repeat an api_url that cannot be used", async () => {
    const error = await failure(notifier(`hooks.slack.com/services/${CANARY}`));
    expect(error).toMatchObject({ code: "network" });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(CANARY);
  });

  it("goes through the proxy that the environment names", async () => {
    const { url, messages } = await sink();
    const asked: string[] = [];
    const proxy = createServer();
    proxy.on("connect", (request, socket) => {
      asked.push(request.url ?? "");
      const upstream = connect(Number(new URL(url).port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on("error", () => socket.destroy());
      socket.on("error", () => upstream.destroy());
      socket.on("close", () => upstream.destroy());
      cleanups.push(() => socket.destroy());
    });
    proxy.on("request", (request, response) => {
      asked.push(request.url ?? "");
      response.end("ok");
    });
    vi.stubEnv("http_proxy", await listen(proxy));
    vi.stubEnv("no_proxy", "");
    await notifier(url).send(NOTIFICATION, { signal: new AbortController().signal });
    expect(asked).toHaveLength(1);
    expect(messages.length).toBeLessThanOrEqual(1);
  });
});
