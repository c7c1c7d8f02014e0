import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { AuditEntry } from "../../../src/alerting/audit.ts";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import { proxyCheck } from "../../../src/http/proxies.ts";
import { ackDone, anAccess, serve } from "../serve.ts";
import { active, alertOf, smallFleet } from "./fleet.ts";
import { shownText } from "./read-page.ts";
import { formToken } from "./visitor.ts";

const dark = alertOf("RecordingOffline");
const print = fingerprint(dark.labels);
const boss = { name: "boss", token: "boss-token", scopes: ["admin"] } as const;
const authProxy = {
  userHeader: "X-Forwarded-User",
  groupsHeader: "X-Forwarded-Groups",
  adminGroups: ["ops", "on call"],
};
const as = (user: string, groups = "") => ({ "x-forwarded-user": user, "x-forwarded-groups": groups });
const sameOrigin = { "sec-fetch-site": "same-origin" };

async function stage({
  networks = ["127.0.0.1"],
  ...differing
}: Parameters<typeof anAccess>[0] & { networks?: string[] } = {}) {
  const changes: unknown[] = [];
  const refused: (string | undefined)[] = [];
  const { address, get } = await serve({
    access: anAccess({ isTrustedProxy: proxyCheck(networks), authProxy, ...differing }),
    fleet: async () => smallFleet,
    alerts: active(dark),
    setSilence: async (wanted) => {
      changes.push(wanted);
      return { outcome: "set", id: "s1" };
    },
    acknowledge: async (fingerprint, by) => {
      changes.push([fingerprint, by]);
      return ackDone;
    },
    audit: ({ reason }: Omit<AuditEntry, "at">) => void refused.push(reason),
  });
  const post = (path: string, headers: Record<string, string>, fields: Record<string, string> = {}) =>
    fetch(address + path, { method: "POST", redirect: "manual", headers, body: new URLSearchParams(fields) });
  const formOf = async (headers: Record<string, string>) =>
    formToken(await (await get(`/alerts/${print}`, headers)).text());
  return { address, get, post, formOf, changes, refused };
}

/** The answer to headers sent as they are, also twice. */
function ask(url: string, headers: string[]): Promise<{ readonly status: number; readonly html: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; html: string }>();
  request(url, { headers: ["host", "x", ...headers] }, async (response) => {
    resolve({ status: response.statusCode ?? 0, html: await text(response) });
  })
    .on("error", reject)
    .end();
  return promise;
}

describe("a user whom the proxy has signed in", () => {
  test("reads, is shown by name, and neither signs in nor out", async () => {
    const { get } = await stage({ tokens: [boss] });
    const page = await get("/", as("rita@example.com"));
    expect(page.status).toBe(200);
    const shown = shownText(await page.text()).join(" ");
    expect(shown).toContain("rita@example.com");
    expect(shown).not.toMatch(/Sign (?:in|out)/);
    expect((await get("/api/v1/recordings", as("rita"))).status).toBe(200);
    expect((await get("/", as("", "ops"))).status).toBe(401);
  });

  test("changes nothing as a viewer", async () => {
    const { post, formOf, changes } = await stage({ tokens: [boss] });
    const form = await formOf(as("dana", "ops"));
    for (const groups of ["", "opsy", "op", "ops2, on", "on-call"]) {
      const answer = await post(`/alerts/${print}/ack`, { ...as("rita", groups), ...sameOrigin }, { form });
      expect([answer.status, await answer.text()]).toEqual([
        403,
        expect.stringContaining("rita lacks the scope silence"),
      ]);
    }
    expect(changes).toEqual([]);
  });

  test.each(["ops", "cameras, on call", "cameras,ops,sales"])(
    "acknowledges under the own name as one of %s",
    async (groups) => {
      const { post, formOf, changes } = await stage();
      const headers = { ...as("Zoë Müller", groups), ...sameOrigin };
      const bytes = { ...headers, "x-forwarded-user": Buffer.from("Zoë Müller").toString("latin1") };
      const answer = await post(`/alerts/${print}/ack`, bytes, { form: await formOf(bytes) });
      expect(answer.status).toBe(303);
      expect(changes).toEqual([[print, { author: "Zoë Müller", comment: "" }]]);
    },
  );

  test("sets a silence under the own name", async () => {
    const { post, formOf, changes } = await stage();
    const headers = { ...as("dana", "ops"), ...sameOrigin };
    const fields = {
      matchers: 'alertname="RecordingOffline"',
      comment: "x",
      lasting: "1h",
      form: await formOf(headers),
    };
    expect((await post("/silences/new", headers, fields)).status).toBe(303);
    expect(changes).toMatchObject([{ createdBy: "dana" }]);
  });

  test.each([
    ["from another site", { "sec-fetch-site": "cross-site" }],
    ["from another origin", { origin: "https://evil.example" }],
    ["from nowhere", {}],
  ])("is protected from forms %s", async (_, sent) => {
    const { post, formOf, changes, refused } = await stage();
    const form = await formOf(as("dana", "ops"));
    expect((await post(`/alerts/${print}/ack`, { ...as("dana", "ops"), ...sent }, { form })).status).toBe(403);
    expect([changes, refused]).toEqual([[], ["other_site"]]);
  });

  test("cannot send the form of another user", async () => {
    const { post, formOf, changes } = await stage();
    for (const form of ["", "x", await formOf(as("dana", "ops"))]) {
      const answer = await post(`/alerts/${print}/ack`, { ...as("rita", "ops"), ...sameOrigin }, { form });
      expect(answer.status).toBe(403);
    }
    expect(changes).toEqual([]);
  });

  test("changes nothing at the API, which takes the header alone", async () => {
    const { post, changes } = await stage({ tokens: [boss] });
    const path = `/api/v1/alerts/${print}/ack`;
    expect((await post(path, { ...as("dana", "ops"), ...sameOrigin })).status).toBe(401);
    expect(changes).toEqual([]);
  });

  test("is told that the API needs a token where none is configured", async () => {
    const { post } = await stage();
    const refused = await post("/-/reload", { ...as("dana", "ops"), ...sameOrigin });
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining("needs a token")]);
  });

  test("keeps the rights of a token that they sign in with", async () => {
    const { post, get } = await stage({ tokens: [boss] });
    const signedIn = await post("/session", { ...as("rita"), ...sameOrigin }, { name: "rita", token: "boss-token" });
    const [cookie = ""] = signedIn.headers.getSetCookie();
    const page = await get(`/alerts/${print}`, { ...as("rita"), cookie: cookie.split(";")[0] ?? "" });
    expect(shownText(await page.text()).join(" ")).toContain("Acknowledge");
  });
});

describe("the header of a user", () => {
  test.each([[["10.0.0.0/8"]], [[]]])("is ignored from an address that is not one of %j", async (networks) => {
    const { get, refused } = await stage({ networks, tokens: [boss] });
    const headers = { ...as("dana", "ops"), "x-forwarded-for": "10.0.0.1" };
    for (const path of ["/", "/api/v1/recordings", "/metrics"]) expect((await get(path, headers)).status).toBe(401);
    expect(new Set(refused)).toEqual(new Set(["untrusted_proxy"]));
    expect((await get("/metrics", { ...headers, authorization: "Bearer boss-token" })).status).toBe(200);
  });

  test("is ignored where no proxy signs people in", async () => {
    const { get, refused } = await stage({ authProxy: undefined });
    expect((await get("/", as("dana"))).status).toBe(401);
    expect(refused).toEqual([]);
  });

  test("is refused where a client's own came along", async () => {
    const { address } = await stage();
    const user = (name: string) => ["x-forwarded-user", name];
    const url = `${address}/alerts/${print}`;
    expect((await ask(url, user("dana"))).status).toBe(200);
    expect((await ask(url, [...user("boss"), ...user("dana")])).status).toBe(401);
    expect((await ask(url, ["X-Forwarded-User", "boss", ...user("dana")])).status).toBe(401);
    const ops = ["x-forwarded-groups", "ops"];
    expect((await ask(url, [...user("dana"), ...ops])).html).toContain('name="form"');
    const both = await ask(url, [...user("dana"), ...ops, "x-forwarded-groups", "sales"]);
    expect([both.status, both.html]).toEqual([200, expect.not.stringContaining('name="form"')]);
  });

  test("is bounded and shown as text", async () => {
    const { get } = await stage();
    expect((await get("/", as("x".repeat(201)))).status).toBe(401);
    const html = await (await get("/", as("<b>eve</b>"))).text();
    expect(html).toContain("<bdi>&lt;b&gt;eve&lt;/b&gt;</bdi>");
  });

  test("is missing: the page says where to come from, or asks for a token", async () => {
    const shown = async (page: Response) => shownText(await page.text()).join(" ");
    const without = await stage();
    expect(await shown(await without.get("/"))).toContain("Come through the proxy that signs people in.");
    expect(await shown(await (await stage({ tokens: [boss] })).get("/"))).toContain("Token");
  });
});
