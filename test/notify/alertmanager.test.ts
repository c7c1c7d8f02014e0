import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { HttpClient } from "../../src/lib/http-client.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createAlertmanagerNotifier, renderAlertmanager } from "../../src/notify/alertmanager.ts";
import { startHttpSink } from "../support/http-sink.ts";
import { describeChannel, type RigOptions } from "./contract.ts";
import { alertOf, endedOf, HOUR, MINUTE, NOW, notificationOf } from "./fixtures.ts";
import { CANARY, type HttpRig, httpFaults } from "./http-faults.ts";

async function startRig({ timeoutMs, log }: RigOptions): Promise<HttpRig> {
  const sink = await startHttpSink();
  const http = { authorization: { type: "Bearer", credentials: CANARY }, basicAuth: undefined, tls: undefined };
  const notifier = createAlertmanagerNotifier({ url: sink.url, resendMs: MINUTE, http, timeoutMs, log });
  return {
    sink,
    notifier,
    secrets: [CANARY],
    accepted: () => sink.messages.length,
    hang: () => sink.respond("hang"),
    vanish: () => sink.close(),
    async close() {
      await notifier.close();
      await sink.close();
    },
  };
}

describeChannel("Alertmanager", startRig, httpFaults);

const render = (changes: Parameters<typeof notificationOf>[0], plain = false) =>
  renderAlertmanager(notificationOf(changes), { expireMs: 15 * MINUTE, plain });

describe("alerts as Alertmanager takes them", () => {
  it("fire for a while from now, and end exactly when they did", () => {
    const [till, door] = [alertOf("Till 3"), endedOf("Door", { fingerprint: "fedcba9876543210" })];
    const posted = render({ firing: [till], resolved: [door] });
    expect(posted).toHaveLength(2);
    expect(posted.find(({ labels }) => labels.recording === "Till 3")).toEqual({
      labels: till.labels,
      annotations: {},
      startsAt: "2026-11-20T14:05:00.000Z",
      endsAt: "2026-11-20T14:32:00.000Z",
      generatorURL: `https://lenswatch.example.com/recordings/${till.subject.id}`,
    });
    expect(posted.find(({ labels }) => labels.recording === "Door")).toMatchObject({
      annotations: { end_reason: "recovered" },
      startsAt: "2026-11-20T14:05:00.000Z",
      endsAt: "2026-11-20T14:14:00.000Z",
    });
  });

  it("with the same labels are one: what fires, else what ended last", () => {
    const early = endedOf("Till 3", { startsAt: NOW - 2 * HOUR, endsAt: NOW - HOUR });
    const later = endedOf("Till 3");
    const now = alertOf("Till 3", { startsAt: NOW - MINUTE });
    expect(render({ firing: [now], resolved: [later, early] })).toMatchObject([
      { startsAt: "2026-11-20T14:16:00.000Z", endsAt: "2026-11-20T14:32:00.000Z" },
    ]);
    expect(render({ resolved: [later, early] })).toMatchObject([{ endsAt: "2026-11-20T14:14:00.000Z" }]);
    const longer = alertOf("Till 3");
    expect(render({ firing: [longer, now] })).toMatchObject([{ startsAt: "2026-11-20T14:05:00.000Z" }]);
  });

  it("never end before they begin: it would refuse them", () => {
    const [odd] = render({ resolved: [endedOf("Door", { endsAt: NOW - HOUR })] });
    expect(odd?.endsAt).toBe(odd?.startsAt);
  });

  it("of a test message resolve soon", () => {
    expect(render({ reason: "test", firing: [alertOf("Test")] })[0]?.endsAt).toBe("2026-11-20T14:18:00.000Z");
  });

  it("have no link where there is none, and no annotations where those were refused", () => {
    const firing = [alertOf("Till 3", { annotations: { summary: "dark" } })];
    expect(render({ firing, externalUrl: undefined })[0]).not.toHaveProperty("generatorURL");
    expect(render({ firing }, true)[0]?.annotations).toEqual({});
  });
});

it("many alerts are several posts, and a refusal of any is one of all", async () => {
  const sink = await startHttpSink();
  const http = { authorization: undefined, basicAuth: undefined, tls: undefined };
  const notifier = createAlertmanagerNotifier({
    url: `${sink.url}/am`,
    resendMs: MINUTE,
    http,
    timeoutMs: 60_000,
    log: silentLogger,
  });
  const firing = Array.from({ length: 600 }, (_, i) => alertOf(`Camera ${i}`, { fingerprint: `${i}` }));
  const { signal } = new AbortController();
  await notifier.send(notificationOf({ firing }), { signal });
  expect(sink.messages.map(({ path }) => path)).toEqual(Array(3).fill("/am/api/v2/alerts"));
  expect(sink.messages.map(({ text }) => JSON.parse(text).length)).toEqual([256, 256, 88]);
  sink.respond((_, position) => ({ status: position === 4 ? 400 : 200 }));
  await expect(notifier.send(notificationOf({ firing }), { signal })).rejects.toMatchObject({ code: "bad_request" });
  await notifier.close();
  await sink.close();
});

describe("many alerts", () => {
  const firing = Array.from({ length: 1_500 }, (_, i) => alertOf(`Camera ${i}`, { fingerprint: `${i}` }));
  const deps = {
    url: "http://alertmanager.invalid",
    resendMs: MINUTE,
    http: { authorization: undefined, basicAuth: undefined, tls: undefined },
    timeoutMs: 60_000,
    log: silentLogger,
  };
  const namesIn = (body: string) =>
    (JSON.parse(body) as { labels: Record<string, string> }[]).map(({ labels }) => labels.recording);
  const answer = (status: number) => ({ status, body: Readable.from([]), discard() {} });
  const clientOf = (send: HttpClient["send"]) => ({ send, close: async () => {} });
  const { signal } = new AbortController();

  it("of which one is refused are all posted", async () => {
    const taken = new Set<string | undefined>();
    const notifier = createAlertmanagerNotifier({
      ...deps,
      client: clientOf(async ({ body }) => {
        const names = namesIn(body ?? "[]");
        for (const name of names) if (name !== "Camera 1499") taken.add(name);
        return answer(names.includes("Camera 1499") ? 400 : 200);
      }),
    });
    await expect(notifier.send(notificationOf({ firing }), { signal })).rejects.toMatchObject({ code: "bad_request" });
    expect(taken.size).toBe(1_499);
  });

  it("are posted in parallel, so that slow answers do not exceed the deadline", async () => {
    const four = Promise.withResolvers<void>();
    let asked = 0;
    const notifier = createAlertmanagerNotifier({
      ...deps,
      client: clientOf(async () => {
        if (++asked === 4) four.resolve();
        await four.promise;
        return answer(200);
      }),
    });
    await notifier.send(notificationOf({ firing }), { signal });
    expect(asked).toBe(6);
  });

  it("stop together once it fails, and none is in flight when the error is thrown", async () => {
    let asked = 0;
    let underWay = 0;
    const notifier = createAlertmanagerNotifier({
      ...deps,
      client: clientOf(async () => {
        const isFirst = asked++ === 0;
        underWay++;
        await new Promise((resolve) => setImmediate(resolve));
        if (!isFirst) await new Promise((resolve) => setImmediate(resolve));
        underWay--;
        return answer(isFirst ? 503 : 200);
      }),
    });
    await expect(notifier.send(notificationOf({ firing }), { signal })).rejects.toMatchObject({ code: "server_error" });
    expect([asked, underWay]).toEqual([4, 0]);
  });
});
