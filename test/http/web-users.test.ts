import { hashSync } from "bcryptjs";
import type { FastifyRequest } from "fastify";
import { describe, expect, test } from "vitest";
import { compareHash } from "../../src/http/bcrypt.ts";
import { basicAuthenticator } from "../../src/http/web-users.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { NOW } from "../metrics/fleets.ts";
import { active, alertOf } from "./page/fleet.ts";
import { formToken } from "./page/visitor.ts";
import { ackDone, anAccess, serve } from "./serve.ts";

const HASH = hashSync("hunter2", 4);
const users = { alice: HASH, bob: hashSync("other", 4) };
const web = { tls: undefined, headers: {}, users };
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});
const closed = { readToken: "read-me-and-nothing", web };

test("a hash is compared in another thread, with one that htpasswd makes", async () => {
  expect(await compareHash("hunter2", HASH.replace("$2b$", "$2y$"))).toBe(true);
  expect(await compareHash("hunter3", HASH)).toBe(false);
  await expect(compareHash("hunter2", undefined as unknown as string)).rejects.toThrow();
});

describe("a user of the web configuration", () => {
  test("may read, silence and post alerts, and nothing more", async () => {
    const { address, get } = await serve({ ...closed, adminToken: "admin-and-everything" });
    const headers = { ...basic("alice", "hunter2"), "content-type": "application/json" };
    expect((await get("/api/v1/recordings", headers)).status).toBe(200);
    const post = (path: string, body: string) => fetch(address + path, { method: "POST", headers, body });
    expect((await post("/api/v2/alerts", "[]")).status).toBe(200);
    expect((await post("/api/v2/silences", "{}")).status).toBe(400);
    expect([401, 403]).toContain((await post("/-/reload", "")).status);
  });

  test("acknowledges on the page under the own name, and another site cannot have the browser do so", async () => {
    const acknowledged: unknown[] = [];
    const alerts = active(alertOf("RecordingOffline"));
    const acknowledge = async (print: string, by: object) => {
      acknowledged.push([print, by]);
      return ackDone;
    };
    const { address, get } = await serve({ access: anAccess(), web, alerts, acknowledge });
    const login = basic("alice", "hunter2");
    const html = await (await get("/?show=alerts", login)).text();
    const [, print = ""] = /alerts\/([0-9a-f]{16})/.exec(html) ?? [];
    const page = await (await get(`/alerts/${print}`, login)).text();
    expect(page).toContain("<bdi>alice</bdi>");
    expect(page).not.toContain("Read-only");
    const body = () => new URLSearchParams({ form: formToken(page) });
    const post = async (path: string, headers: Record<string, string>, form?: URLSearchParams) =>
      (
        await fetch(address + path, {
          method: "POST",
          redirect: "manual",
          headers: { ...login, ...headers },
          ...(form && { body: form }),
        })
      ).status;
    expect(await post(`/alerts/${print}/ack`, {}, body())).toBe(403);
    expect(await post(`/alerts/${print}/ack`, { origin: "https://evil.example" }, body())).toBe(403);
    expect(await post(`/api/v1/alerts/${print}/ack`, { origin: "https://evil.example" })).toBe(401);
    expect(acknowledged).toEqual([]);
    expect(await post(`/alerts/${print}/ack`, { origin: address }, body())).toBe(303);
    expect(await post(`/api/v1/alerts/${print}/ack`, {})).toBe(200);
    expect(acknowledged[0]).toEqual([print, { author: "alice", comment: "" }]);
  });

  test.each([
    ["wrong password", basic("alice", "hunter3")],
    ["another user's", basic("alice", "other")],
    ["unknown user", basic("carol", "hunter2")],
    ["no password", basic("alice", "")],
    ["no colon", { authorization: `Basic ${Buffer.from("alice").toString("base64")}` }],
    ["a name of every object", basic("constructor", "hunter2")],
    ["a token as login", { authorization: "Basic read-me-and-nothing" }],
  ])("is not let in with %s", async (_, headers) => {
    const { get } = await serve(closed);
    const answer = await get("/api/v1/recordings", headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe('Bearer scope="read", Basic realm="lenswatch"');
  });

  test("on a page signs in with a token, unless there is none: then the browser asks for a login", async () => {
    const access = anAccess();
    const challenge = async (differing: Parameters<typeof serve>[0]) =>
      (await (await serve({ ...differing, web })).get("/")).headers.get("www-authenticate");
    expect(await challenge({ readToken: "read-me-and-nothing" })).toBe('Bearer scope="read"');
    expect(await challenge({ access })).toBe('Bearer scope="read", Basic realm="lenswatch"');
  });
});

describe("logins", () => {
  /** Asks with a login; `compare` never ends unless told. */
  function authenticator(compare: (password: string, hash: string) => Promise<boolean>) {
    let current = web;
    const noted: unknown[] = [];
    const deps = {
      audit: async (entry: unknown) => void noted.push(entry),
      get web() {
        return current;
      },
      clock: { now: () => NOW },
      log: silentLogger,
    };
    const authenticate = basicAuthenticator(deps, compare);
    const ask = async (user: string, password: string, ip = "192.0.2.1") =>
      authenticate({
        headers: basic(user, password),
        ip,
        routeOptions: { config: {}, url: "/a", method: "GET" },
        principal: { via: "anonymous", name: "" },
      } as unknown as FastifyRequest);
    return { ask, noted, change: (next: typeof web) => (current = next) };
  }

  function counting() {
    const compared: string[] = [];
    const compare = async (password: string, hash: string) => {
      compared.push(hash);
      return password === "hunter2" && hash === HASH;
    };
    return { compared, ...authenticator(compare) };
  }

  test("that are right are compared once, also many at a time, and again when the hash changes", async () => {
    const { ask, compared, change } = counting();
    const all = await Promise.all(Array.from({ length: 50 }, () => ask("alice", "hunter2")));
    expect(all.every((principal) => principal?.via === "basic" && principal.name === "alice")).toBe(true);
    expect(compared).toHaveLength(1);
    change({ ...web, users: { ...users, alice: users.bob } });
    expect(await ask("alice", "hunter2")).toBeUndefined();
    expect(compared).toHaveLength(2);
  });

  test("of unknown users are compared too, with the hash of one and the same user", async () => {
    const { ask, compared } = counting();
    for (let i = 0; i < 3; i++) expect(await ask("carol", "hunter2", `192.0.2.${i}`)).toBeUndefined();
    expect(new Set(compared).size).toBe(1);
    expect(compared).toHaveLength(3);
  });

  test("are compared ten times a minute for an address; one that was right before needs no comparison", async () => {
    const { ask, compared, noted } = counting();
    await ask("alice", "hunter2");
    for (let i = 0; i < 9; i++) expect(await ask("alice", `wrong-${i}`)).toBeUndefined();
    await expect(ask("alice", "wrong")).rejects.toMatchObject({ code: "too_many_failures" });
    expect(compared).toHaveLength(10);
    const entry = { action: "refused", reason: "wrong_login", address: "192.0.2.1", actor: { via: "anonymous" } };
    expect(noted).toHaveLength(10);
    expect(noted).toEqual(
      Array.from({ length: 10 }, () => expect.objectContaining({ ...entry, actor: expect.anything() })),
    );
    expect(JSON.stringify(noted)).not.toContain("wrong-");
    expect(await ask("alice", "hunter2")).toMatchObject({ name: "alice" });
    expect(await ask("bob", "x", "192.0.2.2")).toBeUndefined();
  });

  test("are compared one at a time, and beyond sixteen that wait refused", async () => {
    const begun: string[] = [];
    const free = Promise.withResolvers<boolean>();
    const { ask } = authenticator((password) => {
      begun.push(password);
      return free.promise;
    });
    const asked = Array.from({ length: 17 }, (_, i) => ask("alice", `${i}`, `192.0.2.${i}`));
    await expect(asked[16]).rejects.toMatchObject({ code: "busy" });
    expect(begun).toEqual(["0"]);
    free.resolve(false);
    expect(await Promise.all(asked.slice(0, 16))).toEqual(Array.from({ length: 16 }, () => undefined));
  });
});
