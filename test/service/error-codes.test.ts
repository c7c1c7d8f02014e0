/** Refusals as the service writes them: codes as words or numbers, nested or flat, and its own reason. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { type Asked, someStatus, startBoth, startClient, startScripted, statusRow } from "./support.ts";

const styles = (["words", "capitals", "numbers"] as const).flatMap((error_codes) =>
  (["nested", "flat"] as const).map((error_shape) => ({ error_codes, error_shape })),
);

const entitiesOf = async (service: Service) => (await service.locations()).locations.map(({ id }) => id);
const clockAt = (offsetMs: number, base: { at: number }) => ({ now: () => base.at + offsetMs });

describe.each(styles)("error codes as $error_codes, $error_shape", (traits) => {
  it.each([
    ["forbidden", "auth"],
    ["bad_request", "bad_request"],
    ["rate_limited", "rate_limited"],
    ["internal", "unavailable"],
  ] as const)("%s is %s, over HTTP and in a frame", async (word, code) => {
    const { simulator, service, recorder } = await startBoth({}, { traits });
    const entities = await entitiesOf(service);
    simulator.faults.set("error_payload", { code: word, message: "because of the moon" });
    const wanted = { code, message: expect.stringContaining('("because of the moon")') };
    await expect(service.locations()).rejects.toMatchObject(wanted);
    await expect(service.statusUptime({ entities, entityType: "location" })).rejects.toMatchObject(wanted);
    expect(recorder.requests.filter((line) => line.startsWith("token"))).toHaveLength(1);
  });

  it.each(["unauthorized", "token_expired"])("%s gets a new token and costs no request", async (word) => {
    const { simulator, service, recorder } = await startBoth({}, { traits });
    const entities = await entitiesOf(service);
    simulator.faults.set("error_payload", { code: word, times: 1 });
    await service.locations();
    simulator.faults.set("error_payload", { code: word, times: 1 });
    await service.statusUptime({ entities, entityType: "location" });
    expect(recorder.requests.filter((line) => line.startsWith("token"))).toHaveLength(3);
  });

  it.each([-10, 10])("a token that expires on a live socket costs none, our clock %i minutes off", async (minutes) => {
    const base = { at: Date.parse("2026-11-20T12:00:00Z") };
    const clock = clockAt(minutes * 60_000, base);
    const world = { traits: { ...traits, token_lifetime: "5m" }, clock: clockAt(0, base) };
    const { simulator, service, recorder } = await startBoth({ clock }, world);
    simulator.faults.set("no_expires_in");
    const query = { entities: await entitiesOf(service), entityType: "location" } as const;
    for (let interval = 0; interval < 60; interval += 1) {
      base.at += 30_000;
      expect((await service.statusUptime(query)).readings).toHaveLength(6);
    }
    expect(recorder.requests.filter((line) => !line.endsWith(" ok"))).toEqual([]);
  });
});

const answer = ({ reply }: Asked) => reply([statusRow()]);

describe("a token that is refused", () => {
  it.each([
    '|0|0|{"error":{"code":"Token Expired"}}',
    'nobody|0|0|{"error":"expired-token"}',
    '{"code":401,"error":true}',
  ])("in a frame without a request's id (%s) is replaced for all requests of the connection", async (frame) => {
    const scripted = await startScripted({
      asked: (asked) => (asked.connection === 1 ? asked.socket.send(frame) : answer(asked)),
    });
    const { service } = startClient(scripted);
    const snapshots = await Promise.all([service.statusUptime(someStatus), service.statusUptime(someStatus)]);
    expect(snapshots.map(({ readings }) => readings.length)).toEqual([1, 1]);
    expect(scripted.tokens).toEqual(["token-1", "token-2"]);
  });

  it("in every frame, with an id or without, is an auth error", async () => {
    const scripted = await startScripted({ asked: ({ socket }) => socket.send('|0|0|{"error":"unauthorized"}') });
    await expect(startClient(scripted).service.statusUptime(someStatus)).rejects.toMatchObject({ code: "auth" });
  });

  it("as forbidden is replaced when it has an age, and not for each request", async () => {
    const base = { at: 1_000_000_000_000 };
    const scripted = await startScripted({
      asked: (asked) => (base.at === 1_000_000_000_000 ? asked.reply({ error: "FORBIDDEN" }) : answer(asked)),
    });
    const { service } = startClient(scripted, { clock: clockAt(0, base) });
    const refused = { code: "auth" };
    for (let i = 0; i < 5; i += 1) await expect(service.statusUptime(someStatus)).rejects.toMatchObject(refused);
    expect(scripted.tokens).toHaveLength(1);
  });

  it("as forbidden on an old connection costs no request", async () => {
    const base = { at: 1_000_000_000_000 };
    const scripted = await startScripted({
      token: (count) => ({ body: { access_token: `token-${count}` } }),
      asked: (asked) =>
        asked.connection === 1 && base.at > 1_000_000_000_000 ? asked.reply({ error: "FORBIDDEN" }) : answer(asked),
    });
    const { service } = startClient(scripted, { clock: clockAt(0, base) });
    await service.statusUptime(someStatus);
    base.at += 3_600_000;
    expect((await service.statusUptime(someStatus)).readings).toHaveLength(1);
    expect(scripted.handshakes).toEqual(["token-1", "token-2"]);
  });

  it.each([400, 401, 403])("with HTTP %i and the word in the body is replaced", async (status) => {
    const scripted = await startScripted({
      http(request, response) {
        const isOld = request.headers.authorization === "Bearer token-1";
        response.writeHead(isOld ? status : 200).end(isOld ? '{"error":{"code":"TokenExpired"}}' : "[]");
      },
    });
    expect(await startClient(scripted).service.locations()).toEqual({ locations: [], dropped: 0 });
  });
});

it.each([
  [401, /answered 401 .*: the token was refused; check service\.client_id, /],
  [403, /answered 403 .*: the client in service\.client_id lacks the right; ask the service for access\.$/],
])("a refusal with %i says what to do", async (status, words) => {
  const scripted = await startScripted({
    http: (_, response) => void response.writeHead(status).end('{"message":"no access to this location"}'),
  });
  await expect(startClient(scripted).service.locations()).rejects.toThrow(words);
});

describe("the reason of a refusal", () => {
  const long = "why ".repeat(5_000);
  it.each([
    ['{"message":"no such organisation"}', '("no such organisation")'],
    ['{"error":{"code":"x","message":"not yours"}}', '("not yours")'],
    ['{"error":"invalid_grant","error_description":"audience unknown"}', '("audience unknown")'],
    ['{"errors":[{"detail":"quota used up"}]}', '("quota used up")'],
    ['{"errors":["first","second"]}', '("first")'],
    ['{"title":"Forbidden by policy"}', '("Forbidden by policy")'],
    ['{"code":"policy_42"}', '("policy_42")'],
    ["plain\r\n\u001b[31mwords\u202e", '("plain [31mwords")'],
    ["<html><body>Bad gateway</body></html>", "answered 403:"],
    ["", "answered 403:"],
    ['{"message":{"toString":1}}', "answered 403:"],
    [`{"message":"key ${"k".repeat(64)} is bad"}`, '("key [redacted] is bad")'],
    ['{"message":"hush-hush token-1x eyJhbGciOiJub25lIn0.e30.s"}', '("[redacted] [redacted]x [redacted]")'],
    [long, '("why why '],
  ])("in %j is shown, cut and without secrets", async (body, shown) => {
    const refuse = {
      http: (_: unknown, response: { writeHead(status: number): { end(text: string): void } }) => {
        response.writeHead(403).end(body);
      },
    };
    const scripted = await startScripted(refuse);
    const error = await startClient(scripted)
      .service.locations()
      .catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: "auth", message: expect.stringContaining(shown) });
    expect(String(error).length).toBeLessThan(400);
  });

  it("of the token issuer, of a handshake and of a closed socket is shown", async () => {
    const issuer = await startScripted({
      token: () => ({ status: 403, body: { error_description: "client disabled" } }),
    });
    await expect(startClient(issuer).service.locations()).rejects.toThrow('403 ("client disabled"): check');
    const closer = await startScripted({ asked: ({ socket }) => socket.close(1011, "too many connections") });
    const lines: string[] = [];
    const log = {
      child: () => ({ ...console, warn: ({ err }: { err: Error }) => lines.push(err.message), info() {} }),
    };
    const { service } = startClient(closer, { log: log as never });
    await expect(service.statusUptime(someStatus)).rejects.toMatchObject({ code: "unavailable" });
    expect(lines[0]).toContain('(code 1011) ("too many connections")');
  });

  it("that never arrives delays the error by a second at most", async () => {
    const scripted = await startScripted({
      http: (_, response) => void response.writeHead(503, { "content-length": "99" }).write("half"),
    });
    const hungUp = once(scripted.events, "token").then(() =>
      Promise.all([...scripted.sockets].map((s) => once(s, "close"))),
    );
    await expect(startClient(scripted).service.locations()).rejects.toThrow("answered 503");
    await hungUp;
  });
});
