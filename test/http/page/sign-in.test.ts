import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createLogger } from "../../../src/lib/log.ts";
import { NOW } from "../../metrics/fleets.ts";
import { ackDone, anAccess, serve } from "../serve.ts";
import { smallFleet } from "./fleet.ts";
import { elementOf, linksOf, shownText } from "./read-page.ts";
import { signedIn, visit } from "./visitor.ts";

const fleet = async () => smallFleet;
const tokens = { adminToken: "boss-token", readToken: "read-token" };

describe("signing in", () => {
  test("with the admin token gives a cookie no script and no other site gets hold of", async () => {
    const { address } = await serve({ fleet, adminToken: "boss-token" });
    const response = await visit(address).post("/session", { name: "dana", token: "boss-token" });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("./");
    expect(response.headers.get("set-cookie")).toMatch(
      /^lenswatch=[\w.%+/-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  test("over TLS makes it one that only this host can set, and that never travels in the clear", async () => {
    const { address } = await serve({ ...tokens, externalUrl: "https://lens.example" });
    const response = await visit(address).post("/session", { name: "dana", token: "boss-token" });
    expect(response.headers.get("set-cookie")).toMatch(/^__Host-lenswatch=.*; HttpOnly; Secure; SameSite=Strict$/);
  });

  test("over plain HTTP is refused where the page is reached over TLS: the cookie would not come back", async () => {
    const { address } = await serve({ ...tokens, externalUrl: "https://lens.example" });
    const headers = { origin: "http://10.0.0.1:9595", host: "10.0.0.1:9595" };
    const sent = { name: "dana", token: "boss-token" };
    const response = await visit(address).post("/session", sent, {
      headers: { ...headers, "sec-fetch-site": "same-origin" },
    });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("sign in at https://lens.example");
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("opens what the read token keeps shut, and says who is there", async () => {
    const { address } = await serve({ ...tokens, fleet });
    const stranger = visit(address);
    const refused = await stranger.get("/?location=leeds");
    expect(refused.status).toBe(401);
    expect(elementOf(refused.html, "h1")).toBe("Sign in");
    expect(refused.html).toContain('name="to" value="?location=leeds"');
    expect(shownText(refused.html)).toEqual(
      expect.arrayContaining([
        "Sign in with a token that has the scope read to see this page.",
        "The read token shows the fleet; the admin token, or one with the scope silence, also acknowledges and silences.",
      ]),
    );
    const reader = await signedIn(address, "read-token", "rita");
    const page = await reader.get("/?location=leeds");
    expect(page.status).toBe(200);
    expect(shownText(page.html).join(" ")).toContain("rita Sign out");
    expect((await reader.get("/api/v1/recordings")).status).toBe(200);
  });

  test.each([
    ["?location=leeds", "./?location=leeds"],
    ["recordings/till-3", "./recordings/till-3"],
    ["silences/new?matchers=a%3D%22b%22", "./silences/new?matchers=a%3D%22b%22"],
    ["", "./"],
    ["//evil.example/", "./"],
    ["/own//evil.example/x", "./"],
    ["https://evil.example/", "./"],
    ["\\\\evil.example", "./"],
    ["javascript:alert(1)", "./"],
    ["../../etc", "./"],
    ["/\t/evil.example", "./"],
  ])("leads on to %j only where that is a page of ours", async (to, location) => {
    const { address } = await serve({ ...tokens, fleet });
    const response = await visit(address).post("/session", { name: "dana", token: "boss-token", to });
    expect(response.headers.get("location")).toBe(location);
  });

  test("is possible from a page with a longer path than it leads on to", async () => {
    const { address } = await serve({ ...tokens, fleet });
    const page = await visit(address).get(`/session?to=report%3Fmatchers%3D${"%2522".repeat(700)}`);
    expect(page.status).toBe(200);
    expect(page.html).toContain('name="to" value=""');
  });

  test.each([
    [{ name: "dana", token: "guess" }, 401, "Token: this token is not known."],
    [{ name: "dana" }, 400, "Token: expected the token."],
    [{ name: " \u202e ", token: "boss-token" }, 400, "Your name: expected your name."],
    [{ name: "x".repeat(81), token: "boss-token" }, 400, "Your name: expected at most 80 characters."],
    [{}, 400, "Your name: expected your name."],
  ] as const)("with %j is refused with the field at fault", async (fields, status, message) => {
    const { address } = await serve({ ...tokens, fleet });
    const response = await visit(address).post("/session", fields);
    expect(response.status).toBe(status);
    expect(response.headers.get("set-cookie")).toBeNull();
    const html = await response.text();
    expect(shownText(html)).toContain(message);
    expect(html.match(/aria-invalid="true"/g)).toHaveLength(1);
    expect(html).not.toMatch(/guess|boss-token/);
  });

  test("from another site is refused, and so is signing out", async () => {
    const { address } = await serve({ ...tokens, fleet });
    const headers = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    for (const path of ["/session", "/session/end"]) {
      const response = await visit(address).post(path, { name: "eve", token: "boss-token" }, { headers });
      expect(response.status, path).toBe(403);
      expect(response.headers.get("set-cookie"), path).toBeNull();
    }
  });

  test("with a token that does not read is refused, where reading is not open", async () => {
    const token = { name: "prometheus", token: "posts-alerts", scopes: ["alerts"] as const };
    const access = anAccess({ tokens: [token] });
    const { address } = await serve({ fleet, access });
    const refused = await visit(address).post("/session", { name: "eve", token: "posts-alerts" });
    expect([refused.status, refused.headers.get("set-cookie")]).toEqual([403, null]);
    expect(shownText(await refused.text())).toContain("Token: this token lacks the scope read, which the pages need.");
    const open = await serve({ fleet, access: { ...access, isReadingOpen: true } });
    const reader = await signedIn(open.address, "posts-alerts", "rita");
    expect((await reader.get("/")).status).toBe(200);
  });

  test("with a wrong token is logged without it", async () => {
    const destination = new PassThrough();
    const log = createLogger({ level: "info", destination });
    const { address } = await serve({ ...tokens, fleet, log });
    await visit(address).post("/session", { name: "eve", token: "guess-1" });
    const logged = String(destination.read());
    expect(logged).toContain("sign-in with a wrong token");
    expect(logged).not.toMatch(/guess-|boss-token/);
  });

  test("is not offered where there is no token to sign in with", async () => {
    const { address } = await serve({ fleet });
    const page = await visit(address).get("/");
    expect(linksOf(page.html).has("Sign in")).toBe(false);
    expect(shownText(page.html).at(-1)).toBe(
      "Read-only: no http.admin_token is configured, so nothing can be acknowledged or silenced here.",
    );
    expect((await visit(address).get("/session")).status).toBe(403);
    expect((await visit(address).post("/session", { name: "eve", token: "" })).status).toBe(403);
  });

  test("is offered on every page, and leads back to it", async () => {
    const { address } = await serve({ fleet, adminToken: "boss-token" });
    const link = async (path: string) => linksOf((await visit(address).get(path)).html).get("Sign in");
    expect(await link("/")).toBe("./session");
    expect(await link("/?location=leeds")).toBe("./session?to=%3Flocation%3Dleeds");
    expect(await link("/recordings/till-3")).toBe("../session?to=recordings%2Ftill-3");
  });
});

describe("a session", () => {
  test("is over once its token is another", async () => {
    const changing = { ...tokens, fleet };
    const { address } = await serve({
      ...changing,
      get readToken() {
        return changing.readToken;
      },
      get adminToken() {
        return changing.adminToken;
      },
    });
    const keeper = await signedIn(address, "boss-token");
    expect((await keeper.get("/")).status).toBe(200);
    changing.adminToken = "new-boss";
    expect((await keeper.get("/")).status).toBe(401);
  });

  test("is over after twelve hours", async () => {
    let now = NOW;
    const { address } = await serve({ ...tokens, fleet, clock: { now: () => now } });
    const keeper = await signedIn(address, "boss-token");
    now += 12 * 3_600_000 - 1;
    expect((await keeper.get("/")).status).toBe(200);
    now += 1;
    expect((await keeper.get("/")).status).toBe(401);
  });

  test("ends with signing out", async () => {
    const { address } = await serve({ ...tokens, fleet });
    const keeper = await signedIn(address, "boss-token");
    const response = await keeper.post("/session/end", {});
    expect(response.headers.get("set-cookie")).toMatch(/^lenswatch=; Max-Age=0; Path=\//);
    expect((await keeper.get("/")).status).toBe(401);
  });

  test("changes nothing at the API, which takes the header alone", async () => {
    const acknowledged: string[] = [];
    const acknowledge = async (fingerprint: string) => {
      acknowledged.push(fingerprint);
      return ackDone;
    };
    const { address } = await serve({ ...tokens, fleet, acknowledge });
    const { cookie } = await signedIn(address, "boss-token");
    const ack = `${address}/api/v1/alerts/0011223344556677/ack`;
    expect((await fetch(ack, { method: "POST", headers: { cookie } })).status).toBe(401);
    expect(acknowledged).toEqual([]);
    expect((await fetch(ack, { method: "POST", headers: { authorization: "Bearer boss-token" } })).status).toBe(200);
  });
});
