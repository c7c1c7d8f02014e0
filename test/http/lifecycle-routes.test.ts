import { describe, expect, test } from "vitest";
import type { ReloadResult } from "../../src/http/deps.ts";
import { serve } from "./serve.ts";

const admin = { authorization: "Bearer s3cret" };

describe("probes", () => {
  test.each(["GET", "HEAD"])("%s /-/healthy and /-/ready need no token", async (method) => {
    const { address } = await serve({ readToken: "r", adminToken: "s3cret" });
    for (const path of ["/-/healthy", "/-/ready"]) {
      const answer = await fetch(address + path, { method });
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, method === "GET" ? "OK" : ""]);
    }
  });

  test("/-/ready says why not", async () => {
    const { get } = await serve({
      ready: async () => ({ ready: false, reasons: ["Redis cannot be reached."], notes: [] }),
    });
    const answer = await get("/-/ready");
    expect([answer.status, await answer.text()]).toEqual([503, "Redis cannot be reached."]);
    expect((await get("/-/healthy")).status).toBe(200);
  });
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
