import { describe, expect, test } from "vitest";
import type { ReloadResult } from "../../src/http/deps.ts";
import { judgeReadiness, type ReadinessFacts } from "../../src/http/readiness.ts";
import { serve } from "./serve.ts";

const admin = { authorization: "Bearer s3cret" };
const NOW = 1_000_000_000;
const sweeps = { lastAttemptAt: NOW - 90_000, statusIntervalMs: 30_000 };
const WELL: ReadinessFacts = { configLoaded: true, redisReachable: true, sweeps, endpointsDown: [] };
const unloaded = "The configuration is not loaded.";
const away = "Redis cannot be reached.";

test.each<[Partial<ReadinessFacts>, { reasons?: string[]; notes?: string[] }]>([
  [{}, {}],
  [{ sweeps: undefined }, {}],
  [{ configLoaded: false }, { reasons: [unloaded] }],
  [{ configLoaded: false, redisReachable: false }, { reasons: [unloaded, away] }],
  [{ sweeps: { ...sweeps, lastAttemptAt: undefined } }, { reasons: ["No sweep was attempted yet."] }],
  [
    { sweeps: { ...sweeps, lastAttemptAt: NOW - 90_001 } },
    { reasons: ["The last sweep was attempted 1 m 30 s ago, with an interval of 30 s."] },
  ],
  [{ endpointsDown: ["uptimes"] }, { notes: ["The analytics service does not answer at uptimes."] }],
  [{ evidence: { state: "in_time" } }, {}],
  [{ evidence: { state: "unknown" } }, {}],
  [{ evidence: { state: "partly" } }, { notes: ["Not everything that is watched was read in time."] }],
  [{ evidence: { state: "unreachable" } }, { notes: ["Hardly any recording was read lately."] }],
  [{ standby: ["poll"] }, { notes: ["Another replica has a later configuration: this one takes no new work (poll)."] }],
])("readiness: %j gives %j", (differing, { reasons = [], notes = [] }) => {
  expect(judgeReadiness({ ...WELL, ...differing }, NOW)).toEqual({ ready: reasons.length === 0, reasons, notes });
});

describe("probes", () => {
  test.each([
    ["/healthz", "ok\n"],
    ["/-/healthy", "OK"],
    ["/-/ready", "OK"],
    ["/readyz", '{"ready":true,"reasons":[],"notes":[]}'],
  ])("%s needs no token, by GET and HEAD", async (path, body) => {
    const { address } = await serve({ readToken: "r", adminToken: "s3cret" });
    for (const method of ["GET", "HEAD"]) {
      const answer = await fetch(address + path, { method });
      expect([answer.status, await answer.text()]).toEqual([200, method === "GET" ? body : ""]);
    }
  });

  test("say why lenswatch is not ready, and only then that it is not", async () => {
    const readiness = { ready: false, reasons: [away], notes: ["The service does not answer."] };
    const { get, json } = await serve({ ready: async () => readiness });
    const answer = await get("/-/ready");
    expect([answer.status, await answer.text()]).toEqual([503, away]);
    expect(await json("/readyz")).toEqual({ status: 503, body: readiness });
    expect((await get("/-/healthy")).status).toBe(200);
    const noted = { ...readiness, ready: true, reasons: [] };
    expect(await (await serve({ ready: async () => noted })).json("/readyz")).toEqual({ status: 200, body: noted });
  });

  test.each([() => new Promise<never>(() => {}), () => Promise.reject(new Error("secret"))])(
    "/readyz is not ready when the answer does not come, or fails",
    async (ready) => {
      const answer = await (await serve({ ready })).json("/readyz");
      expect(answer).toMatchObject({ status: 503, body: { ready: false } });
      expect(JSON.stringify(answer)).not.toContain("secret");
    },
  );
});

describe("POST /-/reload", () => {
  async function ask(loaded: ReloadResult | undefined, headers: Record<string, string> = admin) {
    let asked = 0;
    const reload = async () => {
      asked++;
      return loaded ?? { outcome: "loaded" as const };
    };
    const { address } = await serve({ adminToken: "s3cret", ...(loaded && { reload }) });
    const answer = await fetch(`${address}/-/reload`, { method: "POST", headers });
    return { status: answer.status, text: await answer.text(), asked };
  }

  test("reloads the configuration", async () => {
    expect(await ask({ outcome: "loaded" })).toEqual({ status: 200, text: "OK", asked: 1 });
  });

  test("gives every problem of one that is refused", async () => {
    const answer = await ask({ outcome: "refused", problems: ["a.yaml:1:2: one", "a.yaml:3:4: two"] });
    expect(answer.status).toBe(500);
    expect(answer.text).toMatch(/stays active.*a\.yaml:1:2: one.*a\.yaml:3:4: two/s);
  });

  test("says so where there is no file", async () => {
    expect(await ask(undefined)).toMatchObject({
      status: 500,
      text: expect.stringContaining("not started from a file"),
    });
  });

  test("asks for the admin token, and changes nothing without it", async () => {
    expect(await ask({ outcome: "loaded" }, {})).toMatchObject({ status: 401, asked: 0 });
    expect(await ask({ outcome: "loaded" }, { authorization: "Bearer r" })).toMatchObject({ status: 401, asked: 0 });
  });

  test("GET loads nothing", async () => {
    const { get } = await serve({ adminToken: "s3cret", reload: async () => ({ outcome: "loaded" }) });
    expect((await get("/-/reload", admin)).status).toBe(404);
  });
});
