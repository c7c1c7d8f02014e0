import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import { createMatcher } from "../../../src/alerting/matcher.ts";
import { StoreError } from "../../../src/store/errors.ts";
import { fleetOf, NOW, recordingState } from "../../metrics/fleets.ts";
import { aSilence } from "../../support/fixtures.ts";
import { serve } from "../serve.ts";
import { active, alertOf, smallFleet } from "./fleet.ts";
import { elementOf, linksOf, shownText } from "./read-page.ts";
import { signedIn } from "./visitor.ts";

const paths = [
  "/",
  "/?show=locations",
  "/?show=alerts",
  "/?show=search",
  "/?show=silences",
  "/incidents",
  "/?q=e",
  "/?location=leeds",
  "/recordings/till-3",
  "/recordings/nobody",
  `/alerts/${fingerprint(alertOf("RecordingOffline").labels)}`,
  "/alerts/nobody",
  "/silences/new?matchers=a%3D%22b%22",
  "/session",
];

describe("every page", () => {
  test.each(paths)("%s loads and runs nothing but its own style sheet and script", async (path) => {
    const { get, address } = await serve({
      fleet: async () => smallFleet,
      alerts: active(alertOf("RecordingOffline")),
    });
    const response = await get(path);
    const html = await response.text();
    expect(response.headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    const scripts = html.match(/<script\b.*?<\/script>/gs) ?? [];
    expect(scripts.length).toBeLessThanOrEqual(1);
    for (const script of scripts)
      expect(script).toMatch(
        /^<script src="(?:\.\.?\/)+live-[0-9a-f]{16}\.js" data-events="[./]+events" defer><\/script>$/,
      );
    const sheets = html.match(/<link rel="stylesheet" href="(?:\.\.?\/)+style-[0-9a-f]{16}\.css">/g) ?? [];
    expect(sheets).toHaveLength(1);
    for (const loaded of [...scripts, ...sheets]) {
      const path = /(?:src|href)="([^"]*)"/.exec(loaded)?.[1] ?? "";
      const served = await fetch(new URL(path, `${address}${path.startsWith("../") ? "/x/" : "/"}`));
      expect(served.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      const found = createHash("sha256")
        .update(await served.text())
        .digest("hex");
      expect(path).toContain(found.slice(0, 16));
    }
    expect(html).not.toMatch(
      /<(?:iframe|img|object|embed|base|link rel="(?!icon|stylesheet))|\son\w+=|\sstyle=|javascript:/i,
    );
    expect(html.match(/(?:href|src|action)="(?!\.|\?|#main"|data:image\/svg)[^"]*"/g)).toBeNull();
  });

  test.each(paths)(
    "%s has its landmarks, one heading of the first level, and tables that name their rows",
    async (path) => {
      const { get } = await serve({ fleet: async () => smallFleet, alerts: active(alertOf("RecordingOffline")) });
      const html = await (await get(path)).text();
      const landmarks = ["<header>", '<nav aria-label="Pages">', '<main id="main"', "<footer>", 'href="#main"'];
      for (const landmark of landmarks) expect(html.split(landmark), landmark).toHaveLength(2);
      expect(html).toContain('<html lang="en">');
      expect(html.match(/<h1>/g)).toHaveLength(1);
      const tables = html.match(/<table\b.*?<\/table>/gs) ?? [];
      for (const table of tables) {
        expect(table).toMatch(/<caption/);
        const rows = table.match(/<tr role="row"><th scope="(?:row|col)"/g) ?? [];
        expect(rows).toHaveLength(table.match(/<tr\b/g)?.length ?? 0);
      }
      const sections = [...html.matchAll(/<section aria-labelledby="(\w+)"><h2 id="(\w+)"/g)];
      for (const [, label, id] of sections) expect(label).toBe(id);
      expect(sections).toHaveLength(html.match(/<section/g)?.length ?? 0);
    },
  );

  test("can be asked for by its head alone, and comes as it is to who takes no gzip", async () => {
    const { address, get } = await serve({ fleet: async () => smallFleet });
    const head = await fetch(`${address}/`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const plain = await get("/", { "accept-encoding": "identity" });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(Number(plain.headers.get("content-length"))).toBeGreaterThan(1_000);
    expect(plain.headers.get("vary")).toBe("accept-encoding, cookie");
  });
});

describe("hostile names", () => {
  const evil = [
    '"><img src=x onerror=alert(1)>',
    "<script>alert(1)</script>",
    "' autofocus onfocus='alert(1)",
    "</title></style><script>",
    "\u202egnp.exe\u0000\r\n",
    "&lt;b&gt;",
    "x".repeat(10_000),
    "\ud800",
  ];
  // An id is no longer than 256 characters, a name may be.
  const ids = evil.map((name) => name.slice(0, 64));
  const kinds = ["recording", "location", "group", "service", "integration"] as const;
  const fleet = fleetOf({
    recordings: [
      ...ids.map((id, i) => recordingState(`e${i}`, { locationId: i % 2 ? id : "leeds" })),
      recordingState("till-3", { locationId: "leeds", status: "offline" }),
    ],
    names: Object.fromEntries(evil.map((name, i) => [`e${i}`, name])),
    locations: [{ id: "leeds", name: evil[0] ?? "" }, ...ids.map((id, i) => ({ id, name: evil[i] ?? "" }))],
  });
  const alerts = evil.map((name, i) =>
    alertOf(name, {
      id: `a${i}`,
      subject: { kind: kinds[i % kinds.length] ?? "recording", id: (i % 5 === 2 ? "camera_server/" : "") + ids[i] },
      labels: {
        alertname: name,
        severity: name,
        recording: name,
        location: name,
        location_id: ids[i] ?? "",
        receiver: name,
        integration: name,
      },
      annotations: { summary: name, description: name },
      facts: { timezone: name, detail: name },
    }),
  );
  const incidents = async () => [
    {
      id: "i1",
      ruleId: "r1",
      alertname: evil[1] ?? "",
      subject: { kind: "recording" as const, id: "e0" },
      locationId: undefined,
      startsAt: 0,
      endsAt: undefined,
      endReason: undefined,
    },
  ];

  test.each([
    "/",
    "/?show=locations",
    "/?show=alerts",
    "/?q=e",
    "/?q=%22%3E%3Cscript%3E",
    "/?location=leeds",
    `/?location=${encodeURIComponent(ids[1] ?? "")}`,
    "/recordings/e0",
    "/recordings/e3",
    "/recordings/e6",
    "/?show=silences",
    ...alerts.slice(0, 4).map(({ labels }) => `/alerts/${fingerprint(labels)}`),
    `/silences/new?matchers=${encodeURIComponent(evil.map((_, i) => `location_id!="${i}"`).join())}&comment=${encodeURIComponent(evil[0] ?? "")}`,
    `/session?to=${encodeURIComponent(evil[0] ?? "")}`,
  ])("stay text on %s", async (path) => {
    const timeline = async () =>
      evil.map((name) => ({
        subject: { kind: "recording" as const, id: "e0" },
        at: NOW,
        ruleId: name,
        integration: name,
        reason: name,
        detail: name,
      }));
    const silences = async () =>
      evil.map((name, i) =>
        aSilence({
          id: `s${i}`,
          matchers: [createMatcher(name, "=", name)],
          endsAt: NOW + (i % 2 ? 1 : -1) * 60_000,
          createdBy: name,
          comment: name,
        }),
      );
    const suppressed = alerts.map((alert, i) => ({
      alert,
      receivers: ["ops"],
      silencedBy: [`s${i}`],
      mutedBy: [evil[i] ?? ""],
      acknowledgement: { author: evil[i] ?? "", comment: evil[i] ?? "", at: 0 },
    }));
    const zones = async () => new Map([["leeds", new Map([["e0", evil]])]]);
    const { address } = await serve({
      fleet: async () => fleet,
      alerts: async () => suppressed,
      incidents,
      timeline,
      silences,
      zones,
      adminToken: "boss-token",
    });
    const keeper = await signedIn(address, "boss-token", '"><script>alert(1)');
    const get = (at: string) => fetch(address + at, { headers: { cookie: keeper.cookie } });
    const response = await get(path);
    expect(response.status).toBe(200);
    const html = await response.text();
    const rest = html.replace(/<style>.*?<\/style>/s, "");
    const broken = [...rest.matchAll(/<[^>]*>/g)]
      .map(([tag]) => tag)
      .filter((tag) => !/^<(?:!doctype html|\/?[a-z][a-z0-9]*(?: [a-zA-Z0-9-]+(?:="[^"<>]*")?)*\/?)>$/.test(tag));
    expect(broken).toEqual([]);
    const names = new Set([...rest.matchAll(/<\/?([a-z0-9]+)/g)].map(([, name = ""]) => name));
    expect(rest.match(/<script/g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect([...names].filter((name) => ["style", "img", "b"].includes(name))).toEqual([]);
    expect(rest.match(/<\/?title/g)).toHaveLength(2);
    expect(/<[^>]* on\w+=/.exec(rest.replace(/="[^"]*"/g, "=''"))).toBeNull();
    expect(/(?!\n)\p{Cc}|[\u202a-\u202e]|\p{Surrogate}|x{301}/u.exec(html)).toBeNull();
  });
});

describe("an unknown path", () => {
  test.each(["/nothing", "/nothing/here", "/recordings", "/a/b/c/d?e=f/g", "//evil.example/x", "/%2e%2e/x"])(
    "%s is a page for browsers, with a search that leads home",
    async (path) => {
      const { address, get } = await serve({ adminToken: "boss-token", readToken: "read-token" });
      const response = await get(path, { accept: "text/html,*/*;q=0.8" });
      const html = await response.text();
      expect(response.status).toBe(404);
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(shownText(html)).toContain("There is nothing at this address");
      const action = /role="search" action="([^"]*)"/.exec(html)?.[1] ?? "";
      expect(new URL(action, address + path).pathname).toBe("/");
      expect(new URL(linksOf(html).get("To the status page") ?? "", address + path).href).toBe(`${address}/`);
    },
  );

  test.each([
    ["/nothing", { accept: "application/json" }],
    ["/nothing", {}],
    ["/api/v1/nothing", { accept: "text/html" }],
    ["/-/nothing", { accept: "text/html" }],
  ] as const)("%s is JSON for %j", async (path, headers) => {
    const { json } = await serve();
    const { status, body } = await json(path, headers);
    expect([status, body]).toEqual([404, { error: { code: "not_found", message: "There is nothing at this path." } }]);
  });
});

describe("what is refused", () => {
  test("asks to sign in where reading needs a token, and tells nothing of the fleet", async () => {
    const { get } = await serve({ readToken: "secret-1", fleet: async () => smallFleet });
    const paths = ["/", "/recordings/till-3", "/recordings/nobody", "/alerts/nobody", "/silences/new"];
    for (const path of paths) {
      const response = await get(path);
      const html = await response.text();
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Bearer scope="read"');
      expect(elementOf(html, "h1")).toBe("Sign in");
      expect(html).toContain('type="password"');
      expect(/Till|Leeds|secret-1/.exec(html)).toBeNull();
    }
    expect((await get("/", { authorization: "Bearer secret-1" })).status).toBe(200);
  });

  test("says that nothing is known while what is remembered cannot be read", async () => {
    const never = () => new Promise<never>(() => undefined);
    for (const deps of [
      { fleet: never },
      { fleet: async () => smallFleet, alerts: never },
      { fleet: () => Promise.reject(new StoreError("unavailable", "Redis at 10.0.0.1 is away.")) },
    ]) {
      const { get } = await serve({ ...deps, limits: { readMs: 20 } });
      const response = await get("/");
      const html = await response.text();
      expect(response.status).toBe(503);
      expect(elementOf(html, "title")).toBe("The state cannot be read now · lenswatch");
      expect(/>online|10\.0\.0\.1/.exec(html)).toBeNull();
      expect(html.includes('<meta http-equiv="refresh" content="30">')).toBe(true);
    }
  });

  test("says so where only the incidents cannot be read", async () => {
    const incidents = () => new Promise<never>(() => undefined);
    const { get } = await serve({ fleet: async () => smallFleet, incidents, limits: { readMs: 20 } });
    expect((await get("/recordings/till-3")).status).toBe(503);
  });

  test("tells of a fault of its own no more than that", async () => {
    const { get } = await serve({ fleet: () => Promise.reject(new Error("at line 12")) });
    const response = await get("/");
    const html = await response.text();
    expect(response.status).toBe(500);
    expect(elementOf(html, "h1")).toBe("A fault of lenswatch");
    expect(html.includes("line 12")).toBe(false);
  });

  test.each(["?show=x", "?cursor=x", "?refresh=on", "?q=a&q=b", `?q=${"a".repeat(300)}`])(
    "%s names what is wrong, with a way back",
    async (query) => {
      const { get } = await serve();
      const response = await get(`/${query}`);
      const html = await response.text();
      expect(response.status).toBe(400);
      expect(shownText(html).join(" ")).toContain(`${query.slice(1).split("=")[0]}: expected`);
      expect(linksOf(html).get("To the status page")).toBe("./");
    },
  );
});
