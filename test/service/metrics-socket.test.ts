/** The socket's life, against services that misbehave on purpose. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type Asked, someStatus, startClient, startScripted, statusRow } from "./support.ts";

const answer = (asked: Asked) => asked.reply([statusRow()]);

describe("a connection", () => {
  it("is opened by the first question and kept", async () => {
    const scripted = await startScripted({ asked: answer });
    const { service } = startClient(scripted);
    expect(scripted.handshakes).toHaveLength(0);
    await service.statusUptime(someStatus);
    await service.statusUptime(someStatus);
    expect(scripted.handshakes).toEqual(["token-1"]);
  });

  it("that is half-open is found within two ping intervals, and its questions are asked again", async () => {
    const pingIntervalMs = 150;
    const scripted = await startScripted({ autoPong: false, asked: (asked) => asked.connection > 1 && answer(asked) });
    const { service, recorder } = startClient(scripted, { pingIntervalMs });
    const startedAt = performance.now();
    const { readings } = await service.statusUptime(someStatus);
    const tookMs = performance.now() - startedAt;
    expect(readings).toHaveLength(1);
    expect(recorder.reconnects()).toBe(1);
    expect(tookMs).toBeGreaterThan(pingIntervalMs);
    expect(tookMs).toBeLessThan(2 * pingIntervalMs + 10_000);
  });

  it("that is only quiet is left alone", async () => {
    const scripted = await startScripted({ asked: answer });
    const { service, recorder } = startClient(scripted, { pingIntervalMs: 20 });
    const opened = once(scripted.events, "socket");
    await service.statusUptime(someStatus);
    const [socket] = (await opened) as [WebSocket];
    for (let pings = 0; pings < 6; pings += 1) await once(socket, "ping");
    expect(recorder.reconnects()).toBe(0);
  });

  it("refused for a moment is tried again within the question's time", async () => {
    const scripted = await startScripted({ asked: answer, handshake: (_, count) => (count < 3 ? 503 : 101) });
    const { service, recorder } = startClient(scripted);
    await service.statusUptime(someStatus);
    expect(scripted.handshakes).toHaveLength(3);
    expect(recorder.reconnects()).toBe(0);
  });

  it("refused on every attempt fails with the refusal, not with a timeout", async () => {
    const scripted = await startScripted({ handshake: () => 503 });
    const { service } = startClient(scripted, { config: { requestTimeoutMs: 300 } });
    await expect(service.statusUptime(someStatus)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("503"),
    });
  });

  it("with a token refused once is opened with a new one", async () => {
    const scripted = await startScripted({ asked: answer, handshake: (token) => (token === "token-1" ? 401 : 101) });
    const { service } = startClient(scripted);
    await service.statusUptime(someStatus);
    expect(scripted.handshakes).toEqual(["token-1", "token-2"]);
  });

  it("on which the token is refused in a reply is left for one with a new token", async () => {
    const scripted = await startScripted({
      asked: (asked) => (asked.connection === 1 ? asked.reply({ error: { code: 401 } }) : answer(asked)),
    });
    const { service } = startClient(scripted);
    const left = once(scripted.events, "socketClosed");
    await service.statusUptime(someStatus);
    expect(scripted.handshakes).toEqual(["token-1", "token-2"]);
    expect(await left).toEqual([1]);
  });

  it("is replaced before its token expires, and closed when its last answer is in", async () => {
    const held: Asked[] = [];
    const scripted = await startScripted({
      token: (count) => ({ body: { access_token: `token-${count}`, expires_in: count === 1 ? 1.4 : 3600 } }),
      asked: (asked) => (asked.connection === 1 ? held.push(asked) : answer(asked)),
    });
    const { service, recorder } = startClient(scripted);
    const early = service.statusUptime(someStatus);
    await once(recorder.events, "reconnect");
    await service.statusUptime(someStatus);
    expect(held).toHaveLength(1);
    expect(held[0]?.socket.readyState).toBe(WebSocket.OPEN);
    const closed = once(scripted.events, "socketClosed");
    if (held[0]) answer(held[0]);
    expect((await early).readings).toHaveLength(1);
    expect(await closed).toEqual([1]);
    expect(scripted.handshakes).toEqual(["token-1", "token-2"]);
    expect(recorder.reconnects()).toBe(1);
  });

  it("that cannot be replaced in time is used as long as it lasts", async () => {
    const scripted = await startScripted({
      token: (count) => ({ body: { access_token: `token-${count}`, expires_in: count === 1 ? 1.4 : 3600 } }),
      handshake: (_, count) => (count === 1 || count > 3 ? 101 : 503),
      asked: answer,
    });
    const { service, recorder } = startClient(scripted);
    await service.statusUptime(someStatus);
    const replaced = once(recorder.events, "reconnect");
    await once(scripted.events, "token");
    await service.statusUptime(someStatus);
    expect(recorder.reconnects()).toBe(0);
    await replaced;
    await service.statusUptime(someStatus);
    expect(scripted.handshakes).toEqual(["token-1", "token-2", "token-2", "token-2"]);
  });

  it("that a message too large ends costs only the question that asked for it", async () => {
    const { MetricsSocket } = await import("../../src/service/metrics-socket.ts");
    const scripted = await startScripted({
      asked: (asked) => asked.reply(asked.route === "big" ? "x".repeat(5_000) : "small"),
    });
    const kinds: string[] = [];
    const socket = new MetricsSocket({
      tokens: { get: async () => ({ value: "t", expiresAt: undefined, renewAt: undefined }), refuse: () => {} },
      report: (kind) => kinds.push(kind),
      random: () => 0,
      clock: { now: () => 0 },
      redactor: { add: () => {}, text: (text) => text, error: () => new Error() },
      proxy: { httpProxy: "", httpsProxy: "", noProxy: "" },
      wsUrl: scripted.wsUrl,
      requestTimeoutMs: 5_000,
      pingIntervalMs: 10_000,
      limits: { bytes: 1_000, values: 1_000 },
      outage: { failed: () => {}, recovered: () => {} },
      onReconnect: () => {},
    });
    const { signal } = new AbortController();
    const big = socket.ask({ action: "status", route: "big", body: {} }, signal);
    await expect(big).rejects.toMatchObject({ code: "unavailable" });
    expect(await socket.ask({ action: "status", route: "small", body: {} }, signal)).toBe("small");
    expect(kinds).toEqual(["too_large", "too_large", "too_large"]);
    await socket.close();
  });
});

describe("a question", () => {
  it("that breaks every connection it is asked on is given up, and others are not", async () => {
    let poison = "";
    const scripted = await startScripted({
      asked(asked) {
        if (asked.route === "detail/list") poison = asked.id;
        if (asked.id === poison) asked.socket.terminate();
        else answer(asked);
      },
    });
    const { service } = startClient(scripted);
    const given = service.areaContexts(someStatus);
    await expect(given).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("3 times") });
    await service.statusUptime(someStatus);
    expect(scripted.handshakes).toHaveLength(4);
  });

  it("that timed out leaves its late answer to be counted and dropped", async () => {
    const held: Asked[] = [];
    const scripted = await startScripted({ asked: (asked) => held.push(asked) });
    const { service, recorder } = startClient(scripted, { config: { requestTimeoutMs: 150 } });
    await expect(service.statusUptime(someStatus)).rejects.toMatchObject({ code: "timeout" });
    const late = recorder.counted("late_reply");
    if (held[0]) answer(held[0]);
    await late;
    expect(recorder.reconnects()).toBe(0);
  });

  it("that its caller gives up ends at once", async () => {
    const scripted = await startScripted({});
    const { service, recorder } = startClient(scripted);
    const caller = new AbortController();
    const given = service.statusUptime(someStatus, caller.signal);
    await once(scripted.events, "asked");
    caller.abort();
    await expect(given).rejects.toMatchObject({ code: "closed", retryable: false });
    await expect(service.statusUptime(someStatus, caller.signal)).rejects.toMatchObject({ code: "closed" });
    expect(recorder.requests.slice(-2)).toEqual(["status_uptime closed", "status_uptime closed"]);
  });
});

describe("closing", () => {
  it("rejects what is in flight, leaves nothing open, and answers no more", async () => {
    const scripted = await startScripted({});
    const { service } = startClient(scripted);
    const inFlight = service.statusUptime(someStatus);
    const rejected = expect(inFlight).rejects.toMatchObject({ code: "closed" });
    await once(scripted.events, "asked");
    const startedAt = performance.now();
    await service.close();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await rejected;
    await expect(service.statusUptime(someStatus)).rejects.toMatchObject({ code: "closed" });
    await expect(service.checkStatus()).rejects.toMatchObject({ code: "closed" });
    for (const socket of scripted.sockets) await once(socket, "close");
    expect(scripted.sockets.size).toBe(0);
  });

  it("is bounded where the service neither answers nor hangs up", async () => {
    const scripted = await startScripted({ asked: ({ socket }) => socket.pause() });
    const { service } = startClient(scripted);
    service.statusUptime(someStatus).catch(() => {});
    await once(scripted.events, "asked");
    const startedAt = performance.now();
    await service.close();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it("ends a handshake under way", async () => {
    const scripted = await startScripted({ token: () => ({ status: 503, body: {} }) });
    const { service } = startClient(scripted);
    const waiting = service.statusUptime(someStatus);
    const rejected = expect(waiting).rejects.toMatchObject({ code: "closed" });
    await once(scripted.events, "token");
    await service.close();
    await rejected;
  });
});
