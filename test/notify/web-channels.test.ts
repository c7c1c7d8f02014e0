/** The channels that post over HTTP: what all of them owe, the exchange itself, and the payload of each. */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Notification, PageChange } from "../../src/alerting/model.ts";
import type { HttpClient } from "../../src/lib/http-client.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createAlertmanagerNotifier, renderAlertmanager } from "../../src/notify/alertmanager.ts";
import type { Notifier, NotifyError } from "../../src/notify/notifier.ts";
import { createPagerDutyNotifier, renderPagerDuty } from "../../src/notify/pagerduty.ts";
import { createSlackNotifier } from "../../src/notify/slack/send.ts";
import { createTeamsNotifier } from "../../src/notify/teams.ts";
import type { HttpClientSettings } from "../../src/notify/web-endpoint.ts";
import { createWebhookNotifier, renderWebhook } from "../../src/notify/webhook.ts";
import { type HttpReply, type HttpSink, startHttpSink } from "../support/http-sink.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { describeChannel, type Fault, type Rig, type RigOptions } from "./contract.ts";
import { alertOf, endedOf, HOUR, MINUTE, NOW, notificationOf, otherAlert } from "./fixtures.ts";

interface HttpRig extends Rig {
  readonly sink: HttpSink;
}

const CANARY = "c4n4ryc4n4ryc4n4ry";
const PLAIN: HttpClientSettings = { authorization: undefined, basicAuth: undefined, tls: undefined };
const PASSWORD = `${CANARY}-password`;
const OK = { status: 200, body: "ok" };

const MAKERS: Readonly<Record<string, (url: string, options: RigOptions) => Notifier>> = {
  Slack: (url, options) =>
    createSlackNotifier({ ...options, apiUrl: `${url}/services/T0/B0/${CANARY}?token=${CANARY}-query` }),
  "The webhook": (url, options) =>
    createWebhookNotifier({
      ...options,
      url: `${url}/hooks/${CANARY}?key=${CANARY}-query`,
      secret: `${CANARY}-secret`,
      maxAlerts: 0,
      http: { ...PLAIN, basicAuth: { username: "lenswatch", password: PASSWORD } },
    }),
  Teams: (url, options) =>
    createTeamsNotifier({ ...options, webhookUrl: `${url}/workflows/${CANARY}?sig=${CANARY}`, http: PLAIN }),
  PagerDuty: (url, options) =>
    createPagerDutyNotifier({
      ...options,
      url: `${url}/v2/enqueue`,
      routingKey: CANARY,
      sendResolved: true,
      http: PLAIN,
    }),
  Alertmanager: (url, options) =>
    createAlertmanagerNotifier({
      ...options,
      url,
      resendMs: MINUTE,
      http: { ...PLAIN, authorization: { type: "Bearer", credentials: CANARY } },
    }),
};

const startRig = (make: (url: string, options: RigOptions) => Notifier) => async (options: RigOptions) => {
  const sink = await startHttpSink();
  sink.respond(OK);
  const notifier = make(sink.url, options);
  const rig: HttpRig = {
    sink,
    notifier,
    secrets: [CANARY, Buffer.from(`lenswatch:${PASSWORD}`).toString("base64")],
    accepted: () => sink.messages.length,
    hang: () => sink.respond("hang"),
    vanish: () => sink.close(),
    async close() {
      await notifier.close();
      await sink.close();
    },
  };
  return rig;
};

function answering(
  answer: HttpReply,
  code: NotifyError["code"],
  scope: Fault<HttpRig>["scope"] = "endpoint",
): Fault<HttpRig> {
  const when = `the endpoint answers ${answer.status} ${answer.body ?? ""}`.trim();
  return { when, arrange: ({ sink }) => sink.respond(answer), code, scope, retryable: scope === "endpoint" };
}

const FAULTS = [
  answering({ status: 400, body: CANARY }, "bad_request", "message"),
  answering({ status: 413, body: `<html>${CANARY}</html>` }, "bad_request", "message"),
  answering({ status: 422 }, "bad_request", "message"),
  answering({ status: 401, body: CANARY }, "auth"),
  answering({ status: 403 }, "auth"),
  answering({ status: 404 }, "not_found"),
  answering({ status: 410 }, "not_found"),
  answering({ status: 408 }, "timeout"),
  answering({ status: 429, headers: { "retry-after": "7" } }, "rate_limited"),
  answering({ status: 500, body: CANARY }, "server_error"),
  answering({ status: 503 }, "server_error"),
  answering({ status: 302, headers: { location: `https://elsewhere.example/${CANARY}` } }, "other"),
];
/** What one channel alone takes for a failure, or for another one. */
const OWN_FAULTS: Readonly<Record<string, readonly Fault<HttpRig>[]>> = {
  Slack: [
    answering({ status: 400, body: "invalid_blocks" }, "bad_request", "message"),
    answering({ status: 400, body: "invalid_token" }, "auth"),
    answering({ status: 200, body: `<html>Sign in to the guest network ${CANARY}</html>` }, "other"),
    answering({ status: 204 }, "other"),
  ],
  Teams: [
    answering(
      { status: 200, body: `Webhook message delivery failed with error: HTTP error 429 ${CANARY}` },
      "rate_limited",
    ),
  ],
  PagerDuty: [answering({ status: 400, body: `{"errors":["'routing_key' ${CANARY} is invalid"]}` }, "auth")],
};
for (const [name, make] of Object.entries(MAKERS))
  describeChannel(name, startRig(make), [...FAULTS, ...(OWN_FAULTS[name] ?? [])]);

const TILL = alertOf("Till 3");
const NOTIFICATION = notificationOf({ firing: [TILL] });
const SIGNAL = new AbortController().signal;

describe("an exchange with an endpoint", () => {
  const COMMON = { timeoutMs: 60_000, log: silentLogger, clock: { now: () => NOW } };

  async function sinkOf(tls?: Parameters<typeof startHttpSink>[0]): Promise<HttpSink> {
    const made = await startHttpSink(tls);
    onTestFinished(() => made.close());
    return made;
  }

  function notifierOf(url: string, more: { secret?: string; http?: Partial<HttpClientSettings> } = {}) {
    const http = { ...PLAIN, ...more.http };
    const made = createWebhookNotifier({ ...COMMON, maxAlerts: 0, url, secret: more.secret, http });
    onTestFinished(() => made.close());
    return made;
  }

  /** A notifier that posts through Slack's package. */
  function slackOf(apiUrl: string) {
    const made = createSlackNotifier({ ...COMMON, apiUrl });
    onTestFinished(() => made.close());
    return made;
  }

  const failure = (of: Notifier) => of.send(NOTIFICATION, { signal: SIGNAL }).catch((thrown: unknown) => thrown);

  async function listen(serve: RequestListener) {
    const server = createServer(serve);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  }

  it("signs the time and the body as they are sent, names the message, and passes the check in the documents", async () => {
    const sink = await sinkOf();
    await notifierOf(sink.url, { secret: "geheim" }).send(NOTIFICATION, { signal: SIGNAL });
    const { headers, text } = await sink.next();
    const at = headers["x-lenswatch-timestamp"];
    expect(at).toBe(String(NOW / 1_000));
    const mac = createHmac("sha256", "geheim").update(`${at}.${text}`).digest("hex");
    expect(headers["x-lenswatch-signature"]).toBe(`sha256=${mac}`);
    expect(headers["x-lenswatch-message-id"]).toBe(NOTIFICATION.messageId);
    expect(headers["content-type"]).toBe("application/json");
    const page = readFileSync(new URL("../../docs/messages.md", import.meta.url), "utf8");
    const code = /^```js\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? "";
    const { isFromLenswatch } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    vi.setSystemTime(NOW);
    onTestFinished(() => void vi.useRealTimers());
    const old = { ...headers, "x-lenswatch-timestamp": "1700000000" };
    const checks = [
      [headers, text, "geheim"],
      [headers, `${text} `, "geheim"],
      [headers, text, "other"],
      [old, text, "geheim"],
      [{}, text, "geheim"],
    ].map((of) => isFromLenswatch(...of));
    expect(checks).toEqual([true, false, false, false, false]);
  });

  it.each<[string, Partial<HttpClientSettings>, string | undefined]>([
    ["no login without one", {}, undefined],
    ["a token", { authorization: { type: "Bearer", credentials: "t0ken" } }, "Bearer t0ken"],
    ["a login", { basicAuth: { username: "me", password: "pä:ss" } }, `Basic ${btoa("me:pÃ¤:ss")}`],
  ])("sends %s", async (_, http, expected) => {
    const sink = await sinkOf();
    await notifierOf(sink.url, { http }).send(NOTIFICATION, { signal: SIGNAL });
    const { headers } = await sink.next();
    expect(headers.authorization).toBe(expected);
    expect(headers).not.toHaveProperty("x-lenswatch-signature");
  });

  it.each([
    { status: 429, header: "30", ms: 30_000 },
    { status: 429, header: "0", ms: 0 },
    { status: 429, header: new Date(NOW + 90_000).toUTCString(), ms: 90_000 },
    { status: 429, header: new Date(NOW - 90_000).toUTCString(), ms: 0 },
    { status: 429, header: "soon", ms: undefined },
    { status: 503, header: "7", ms: 7_000 },
  ])("sends once, and keeps the Retry-After of a $status: $header", async ({ status, header, ms }) => {
    const { url, respond, messages } = await sinkOf();
    respond({ status, headers: { "retry-after": header } });
    for (const of of [notifierOf(url), slackOf(url)]) expect(await failure(of)).toMatchObject({ retryAfterMs: ms });
    expect(messages).toHaveLength(2);
  });

  it("follows no redirect", async () => {
    const [asked, elsewhere] = [await sinkOf(), await sinkOf()];
    asked.respond({ status: 307, headers: { location: elsewhere.url } });
    for (const of of [notifierOf, slackOf]) expect(await failure(of(asked.url))).toMatchObject({ code: "other" });
    expect(elsewhere.messages).toHaveLength(0);
  });

  it("reads no more of an endless answer than it needs, and takes one that breaks off for not accepted", async () => {
    const endless = await listen((request, response) => {
      request.resume();
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", pour);
      pour();
    });
    expect(await failure(notifierOf(endless.url))).toBeUndefined();
    expect(await failure(slackOf(endless.url))).toMatchObject({ code: "other" });
    const broken = await listen((_request, response) => {
      response.writeHead(200, { "content-length": "2" });
      response.write("o", () => response.destroy());
    });
    for (const of of [notifierOf, slackOf])
      expect(await failure(of(broken.url))).toMatchObject({ code: "network", retryable: true });
  });

  it("does not repeat an address that cannot be used", async () => {
    for (const of of [notifierOf, slackOf]) {
      const error = await failure(of(`hooks.example.com/services/${CANARY}`));
      expect(error).toMatchObject({ code: "network" });
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(CANARY);
    }
  });

  it("goes through the proxy that the environment names", async () => {
    const sink = await sinkOf();
    const asked: string[] = [];
    const proxy = await listen((request, response) => {
      asked.push(request.url ?? "");
      response.end("ok");
    });
    proxy.server.on("connect", (request, socket) => {
      asked.push(request.url ?? "");
      const upstream = connect(Number(new URL(sink.url).port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      for (const one of [upstream, socket]) one.on("error", () => one.destroy());
      onTestFinished(() => void socket.destroy());
    });
    vi.stubEnv("http_proxy", proxy.url.slice(0, -1));
    vi.stubEnv("no_proxy", "");
    onTestFinished(() => void vi.unstubAllEnvs());
    sink.respond(OK);
    for (const of of [notifierOf, slackOf]) await of(sink.url).send(NOTIFICATION, { signal: SIGNAL });
    expect(asked).toHaveLength(2);
  });

  it.skipIf(!hasOpenssl)("speaks TLS with certificates of one's own (skipped without openssl)", async () => {
    const pki = makePki();
    const tls = { cert: pki.server.cert, key: pki.server.key, ca: pki.ca, requestCert: true };
    const sink = await sinkOf({ ...tls, rejectUnauthorized: true });
    const own = { ca: pki.ca, cert: pki.client.cert, key: pki.client.key, servername: undefined };
    await notifierOf(sink.url, { http: { tls: own } }).send(NOTIFICATION, { signal: SIGNAL });
    const [bare, other] = [
      { ...own, cert: undefined, key: undefined },
      { ...own, servername: "other.example" },
    ];
    for (const http of [{}, { tls: bare }, { tls: other }]) {
      const error = await failure(notifierOf(sink.url, { http }));
      expect(error).toMatchObject({ code: "network" });
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("PRIVATE KEY");
    }
    expect(sink.messages).toHaveLength(1);
  });
});

describe("alerts as Alertmanager takes them", () => {
  const render = (changes: Partial<Notification>, plain = false) =>
    renderAlertmanager(notificationOf(changes), { expireMs: 15 * MINUTE, plain });
  const times = (changes: Partial<Notification>) =>
    render(changes).map(({ startsAt, endsAt }) => [startsAt, endsAt].map((at) => (Date.parse(at) - NOW) / MINUTE));

  it("fire for a while from now, end exactly when they did, and never before they begin", () => {
    expect(render({ firing: [TILL] })).toEqual([
      {
        labels: TILL.labels,
        annotations: {},
        startsAt: "2026-11-20T14:05:00.000Z",
        endsAt: "2026-11-20T14:32:00.000Z",
        generatorURL: `https://lenswatch.example.com/recordings/${TILL.subject.id}`,
      },
    ]);
    expect(render({ resolved: [endedOf("Door")] })[0]?.annotations).toEqual({ end_reason: "recovered" });
    expect(times({ resolved: [endedOf("Door")] })).toEqual([[-12, -3]]);
    expect(times({ resolved: [endedOf("Door", { endsAt: NOW - HOUR })] })).toEqual([[-12, -12]]);
    expect(times({ reason: "test", firing: [TILL] })).toEqual([[-12, 1]]);
  });

  it("with the same labels are one: what fires, else what ended last", () => {
    const early = endedOf("Till 3", { startsAt: NOW - 2 * HOUR, endsAt: NOW - HOUR });
    const now = alertOf("Till 3", { startsAt: NOW - MINUTE });
    expect(times({ firing: [now], resolved: [endedOf("Till 3"), early] })).toEqual([[-1, 15]]);
    expect(times({ resolved: [endedOf("Till 3"), early] })).toEqual([[-12, -3]]);
    expect(times({ firing: [TILL, now] })).toEqual([[-12, 15]]);
  });

  it("have no link where there is none, and no annotations where those were refused", () => {
    const firing = [alertOf("Till 3", { annotations: { summary: "dark" } })];
    expect(render({ firing, externalUrl: undefined })[0]).not.toHaveProperty("generatorURL");
    expect(render({ firing }, true)[0]?.annotations).toEqual({});
  });

  const many = Array.from({ length: 1_500 }, (_, i) => alertOf(`Camera ${i}`, { fingerprint: `${i}` }));
  const sendMany = (send: HttpClient["send"]) =>
    createAlertmanagerNotifier({
      url: "http://alertmanager.invalid/am",
      resendMs: MINUTE,
      http: PLAIN,
      timeoutMs: 60_000,
      log: silentLogger,
      client: { send, close: async () => {} },
    }).send(notificationOf({ firing: many }), { signal: SIGNAL });
  const answer = (status: number) => ({ status, body: Readable.from([]), discard() {} });

  it("are many posts where they are many; one that is refused stops no other", async () => {
    const posts: { url: string; names: string[] }[] = [];
    const sending = sendMany(async ({ url, body = "" }) => {
      const names = (JSON.parse(body) as { labels: { recording: string } }[]).map(({ labels }) => labels.recording);
      posts.push({ url, names });
      return answer(names.includes("Camera 0") ? 400 : 200);
    });
    await expect(sending).rejects.toMatchObject({ code: "bad_request" });
    expect(new Set(posts.map(({ url }) => new URL(url).pathname))).toEqual(new Set(["/am/api/v2/alerts"]));
    expect(posts.map(({ names }) => names.length).sort()).toEqual([220, 256, 256, 256, 256, 256]);
  });

  it("are posted in parallel, so that slow answers do not exceed the deadline", async () => {
    const four = Promise.withResolvers<void>();
    let asked = 0;
    await sendMany(async () => {
      if (++asked === 4) four.resolve();
      await four.promise;
      return answer(200);
    });
    expect(asked).toBe(6);
  });

  it("stop together once one fails, and none is in flight when the error is thrown", async () => {
    const tick = () => new Promise((resolve) => setImmediate(resolve));
    let [asked, underWay] = [0, 0];
    const sending = sendMany(async () => {
      const isFirst = asked++ === 0;
      underWay++;
      await tick();
      if (!isFirst) await tick();
      underWay--;
      return answer(isFirst ? 503 : 200);
    });
    await expect(sending).rejects.toMatchObject({ code: "server_error" });
    expect([asked, underWay]).toEqual([4, 0]);
  });
});

describe("a group as Alertmanager's webhook payload", () => {
  const render = (changes: Partial<Notification>, maxAlerts = 0) =>
    renderWebhook(notificationOf(changes), { maxAlerts });
  const annotated = (name: string) => alertOf(name, { annotations: { summary: "dark", zones: "Tills" } });

  it("is version 4, field by field", async () => {
    const door = endedOf("Door", { annotations: { summary: "dark" }, fingerprint: "fedcba9876543210" });
    const payload = render({ firing: [annotated("Till 3")], resolved: [door] });
    await expect(JSON.stringify(payload, null, 2)).toMatchFileSnapshot("renders/webhook.txt");
  });

  it("is resolved once nothing fires, with the end reason of each alert", () => {
    const payload = render({ resolved: [endedOf("Door"), endedOf("Till 3", { endReason: "no_longer_watched" })] });
    expect(payload.status).toBe("resolved");
    expect(payload.alerts.map(({ annotations }) => annotations.end_reason)).toEqual(["recovered", "no_longer_watched"]);
  });

  it("leaves out what max_alerts does, the ended first, and annotations where the receiver refused the whole", () => {
    const payload = render({ firing: [alertOf("a"), alertOf("b")], resolved: [endedOf("c")] }, 1);
    expect(payload.alerts.map(({ labels }) => labels.recording)).toEqual(["a"]);
    expect(payload).toMatchObject({ truncatedAlerts: 2, commonLabels: { recording: "a" } });
    const plain = renderWebhook(notificationOf({ firing: [annotated("a")] }), { maxAlerts: 0, plain: true });
    expect(plain.alerts[0]?.annotations).toEqual({});
  });

  it("has the status page for what has no page of its own, its source for an external alert, and else no address", () => {
    const service = otherAlert("service", "service", { alertname: "ServiceUnreachable" });
    const addressOf = (changes: Partial<Notification>) => render(changes).alerts[0]?.generatorURL;
    expect(addressOf({ firing: [service] })).toBe("https://lenswatch.example.com/");
    expect(addressOf({ firing: [service], externalUrl: undefined })).toBe("");
    expect(render({ firing: [service], externalUrl: undefined }).externalURL).toBe("");
    const from = (generatorUrl: string) => ({
      firing: [
        { ...alertOf("x"), facts: { timezone: "UTC", generatorUrl }, subject: { kind: "external", id: "1" } as const },
      ],
    });
    expect(addressOf(from("https://p.example.com/graph"))).toBe("https://p.example.com/graph");
    expect(addressOf(from("javascript:alert(1)"))).toBe("https://lenswatch.example.com/");
  });

  it("is well-formed whatever the service calls its recordings", () => {
    const payload = render({ firing: [alertOf('"}\ud800\u0000</script>\u202e')] });
    expect(JSON.parse(JSON.stringify(payload))).toEqual(payload);
    expect(payload.alerts[0]?.labels.recording).toBe('"}\ufffd\u0000</script>\u202e');
  });

  it("has the same keys in its reminder and its end, so that a receiver takes them for one", () => {
    const keys = (changes: Partial<Notification>) => {
      const { groupKey, alerts } = render(changes);
      return [groupKey, alerts.map(({ fingerprint }) => fingerprint)];
    };
    expect(keys({ reason: "reminder", firing: [{ ...TILL, isNew: false }] })).toEqual(keys({ firing: [TILL] }));
    expect(keys({ reason: "resolved", resolved: [endedOf("Till 3")] })).toEqual(keys({ firing: [TILL] }));
  });
});

describe("an event for PagerDuty", () => {
  const key = "0123456789abcdef";
  const eventsOf = (changes: readonly Partial<PageChange>[], more: Partial<Notification> = {}, sendResolved = true) => {
    const paged = changes.map((change) => ({ action: "trigger" as const, key, firing: [], resolved: [], ...change }));
    const paging = { changes: paged, pages: new Map() };
    const conversation = { id: key, openedAt: NOW, isOver: false, paging };
    return renderPagerDuty(notificationOf({ ...more, conversation }), { sendResolved });
  };

  it("triggers an incident, with what is wrong in it, where, and how bad", () => {
    const about = [TILL, alertOf("Entrance", { labels: { alertname: "RecordingOffline", severity: "warning" } })];
    const [{ payload, ...rest } = {}] = eventsOf([{ firing: about }], { firing: [...about, alertOf("Other")] });
    expect(rest).toMatchObject({ event_action: "trigger", dedup_key: key, client: "lenswatch" });
    expect(payload).toMatchObject({
      summary: "🔴 2 recordings offline · Leeds Briggate",
      source: "Leeds Briggate",
      severity: "critical",
      class: "RecordingOffline",
      timestamp: new Date(TILL.startsAt).toISOString(),
      custom_details: { firing: 2, alerts: expect.stringMatching(/Till 3\n {2}offline .*Entrance\n {2}offline /s) },
    });
    expect(payload).not.toHaveProperty("component");
    expect(JSON.stringify(payload)).not.toContain("https://");
  });

  it.each([
    ["critical", "critical"],
    ["Page", "critical"],
    ["error", "error"],
    ["warning", "warning"],
    ["info", "info"],
    ["sev-9", "error"],
    ["", "error"],
  ])("maps the severity %j to %s", (severity, expected) => {
    const alert = alertOf("Till 3", { labels: { alertname: "RecordingOffline", severity } });
    expect(eventsOf([{ firing: [alert] }])[0]?.payload?.severity).toBe(expected);
  });

  it("is one of each incident that changes, in their order; of a test, one of its own", () => {
    const changes = [{ firing: [TILL] }, { action: "acknowledge", key: "b" }, { action: "resolve", key: "c" }] as const;
    expect(eventsOf(changes).map((one) => [one.event_action, one.dedup_key])).toEqual([
      ["trigger", key],
      ["acknowledge", "b"],
      ["resolve", "c"],
    ]);
    expect(eventsOf(changes, {}, false)).toHaveLength(2);
    expect(eventsOf([])).toEqual([]);
    const [test] = renderPagerDuty(notificationOf({ reason: "test", firing: [TILL] }), { sendResolved: true });
    expect(test).toMatchObject({ event_action: "trigger", dedup_key: NOTIFICATION.group.id });
  });
});
