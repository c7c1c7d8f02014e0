import { once } from "node:events";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createLogger } from "../../src/lib/log.ts";
import { StoreError } from "../../src/store/errors.ts";
import { fleetOf, recordingState } from "../metrics/fleets.ts";
import { serve, textOf } from "./serve.ts";

describe("unknown paths", () => {
  test.each([
    "/nowhere",
    "/recordings",
    "/recordings/rec-1/more",
    "/index.html",
    "/api/v1/",
    "/alertmanager/api/v2/status",
    "/api/v2/silence/",
    "/%2e%2e/etc",
    "/%ff",
  ])("%s is not found", async (path) => {
    const { get } = await serve();
    const response = await get(path);
    expect([400, 404]).toContain(response.status);
    expect(response.headers.get("content-type")).toContain("application/json");
  });

  test("nothing changes state", async () => {
    const { address } = await serve();
    const response = await fetch(`${address}/api/v2/receivers`, { method: "POST", body: "[]" });
    expect(response.status).toBe(404);
    expect(typeof (await response.json())).toBe("string");
  });
});

describe("who may read", () => {
  const tokens = { readToken: "read-me", adminToken: "boss" };
  const fleet = async () => fleetOf({ recordings: [recordingState("rec-1")] });

  test.each(["/", "/recordings/rec-1", "/metrics", "/api/v1/recordings", "/api/v2/status"])(
    "%s needs a token where a read token is configured",
    async (path) => {
      const { get } = await serve({ ...tokens, fleet });
      const refused = await get(path);
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, 'Bearer scope="read"']);
      for (const authorization of ["Bearer wrong", "Bearer ", "Basic cmVhZC1tZQ=="])
        expect((await get(path, { authorization })).status, authorization).toBe(401);
      for (const authorization of ["Bearer read-me", "Bearer boss", "bearer read-me"])
        expect((await get(path, { authorization })).status, authorization).toBe(200);
    },
  );

  test("reading is open where no read token is configured, and an empty token opens nothing", async () => {
    const open = await serve({ adminToken: "boss" });
    expect((await open.get("/api/v1/recordings")).status).toBe(200);
    const { get } = await serve({ readToken: "read-me", adminToken: "" });
    expect((await get("/api/v1/recordings", { authorization: "Bearer " })).status).toBe(401);
    expect((await get("/api/v1/recordings")).status).toBe(401);
  });
});

describe("what cannot be answered", () => {
  test("a store that is away is a 503 that says to try again, and is logged", async () => {
    const destination = new PassThrough();
    const log = createLogger({ level: "info", destination });
    const away = new StoreError("unavailable", "Redis at 10.0.0.1 is away.");
    const { json } = await serve({ log, fleet: () => Promise.reject(away) });
    const answer = await json("/api/v1/recordings");
    expect(answer).toMatchObject({ status: 503, body: { error: { code: "unavailable" } } });
    expect(JSON.stringify(answer)).not.toContain("10.0.0.1");
    expect(String(destination.read())).toContain('"route":"/api/v1/recordings"');
  });

  test("what waits for a store that is away is a 503 in time; a scrape goes on", async () => {
    const never = () => new Promise<never>(() => undefined);
    async function* slow() {
      yield "up 1\n";
      await new Promise((resolve) => setTimeout(resolve, 200));
      yield "up 2\n";
    }
    const { json, get } = await serve({
      limits: { answerMs: 50 },
      episodes: never,
      silences: never,
      metrics: { expose: () => ({ contentType: "text/plain", body: slow() }) },
    });
    const message = expect.stringContaining("try again in a moment");
    expect(await json("/api/v1/incidents")).toEqual({ status: 503, body: { error: { code: "unavailable", message } } });
    expect(await json("/api/v2/silences")).toEqual({ status: 503, body: message });
    expect(await (await get("/metrics")).text()).toBe("up 1\nup 2\n");
  });

  test("a fault of our own is a 500 that tells nothing of it", async () => {
    const { json } = await serve({ fleet: () => Promise.reject(new Error("at line 12")) });
    const answer = await json("/api/v1/recordings");
    expect(answer).toMatchObject({ status: 500, body: { error: { code: "internal" } } });
    expect(JSON.stringify(answer)).not.toContain("line 12");
  });

  test("a token in the query is not logged", async () => {
    const destination = new PassThrough();
    const log = createLogger({ level: "debug", destination });
    const { get } = await serve({ log });
    await get("/api/v1/recordings?token=hunter2");
    expect(String(destination.read())).not.toContain("hunter2");
  });
});

describe("listening", () => {
  test("a port in use is one sentence with the next step", async () => {
    const { address } = await serve();
    const port = Number(new URL(address).port);
    await expect(serve({ listen: { host: "127.0.0.1", port } })).rejects.toMatchObject({
      code: "listen",
      message: `127.0.0.1:${port} is already in use; set http.listen to a free port.`,
    });
  });
});

describe("closing", () => {
  test("ends connections that are idle or were never used", async () => {
    const { address, server, get } = await serve();
    await (await get("/healthz")).text();
    const socket = connect(Number(new URL(address).port), "127.0.0.1");
    await once(socket, "connect");
    const ended = once(socket, "close");
    await server.close();
    await ended;
    await expect(get("/healthz")).rejects.toThrow();
  });

  test("cuts an answer that does not end", async () => {
    async function* endless(): AsyncGenerator<string, void> {
      yield "first\n";
      await new Promise(() => undefined);
    }
    const metrics = { expose: () => ({ contentType: "text/plain", body: endless() }) };
    const { server, get } = await serve({ metrics });
    const response = await get("/metrics", { "accept-encoding": "identity" });
    const rest = response.text();
    await Promise.all([server.close(), expect(rest).rejects.toThrow()]);
  });

  test("lets an answer in flight end", async () => {
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const metrics = {
      expose() {
        asked.resolve();
        return {
          contentType: "text/plain",
          body: (async function* () {
            await held.promise;
            yield* textOf("up 1\n");
          })(),
        };
      },
    };
    const { server, get } = await serve({ metrics, limits: { closeMs: 60_000 } });
    const response = get("/metrics");
    await asked.promise;
    const closed = server.close();
    held.resolve();
    expect(await (await response).text()).toBe("up 1\n");
    await closed;
  });
});
