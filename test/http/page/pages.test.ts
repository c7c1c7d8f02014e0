import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { StoreError } from "../../../src/store/errors.ts";
import { fleetOf, NOW, recordingState } from "../../metrics/fleets.ts";
import { serve } from "../serve.ts";
import { active, alertOf, everything, pageOf, pages, smallFleet, unreachable } from "./fleet.ts";
import { elementOf, linesOf, linksOf } from "./read-page.ts";
import { signedIn } from "./visitor.ts";

const MINUTE = 60_000;
const never = () => new Promise<never>(() => undefined);

describe("every page", () => {
  test.each(Object.entries(pages))("%s shows what it knows, to who may change it", async (name, path) => {
    const { address } = await serve({ ...everything("Rewiring"), adminToken: "boss-token" });
    const { html } = await (await signedIn(address, "boss-token")).get(path);
    await expect(linesOf(html)).toMatchFileSnapshot(`snapshots/${name}.txt`);
  });

  test.each(Object.values(pages))("%s runs nothing but its own script, and is laid out for everybody", async (path) => {
    const { get, address } = await serve(everything("Rewiring"));
    const response = await get(path, { accept: "text/html" });
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
      const file = /(?:src|href)="([^"]*)"/.exec(loaded)?.[1] ?? "";
      const served = await fetch(new URL(file, address + path));
      expect(served.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      const hash = createHash("sha256").update(await served.text());
      expect(file).toContain(hash.digest("hex").slice(0, 16));
    }
    expect(html).not.toMatch(
      /<(?:iframe|img|object|embed|base|link rel="(?!icon|stylesheet))|\son\w+=|\sstyle=|javascript:/i,
    );
    expect(html.match(/(?:href|src|action)="(?!\.|\?|#main"|data:image\/svg)[^"]*"/g)).toBeNull();
    for (const one of ["<header>", '<nav aria-label="Pages">', 'role="search"', '<main id="main"', "<footer>", "<h1>"])
      expect(html.split(one), one).toHaveLength(2);
    for (const table of html.match(/<table\b.*?<\/table>/gs) ?? []) {
      expect(table).toMatch(/<caption/);
      const rows = table.match(/<tr(?: role="row")?>\s*<th scope="(?:row|col)"/g) ?? [];
      expect(rows).toHaveLength(table.match(/<tr\b/g)?.length ?? 0);
    }
    const sections = [...html.matchAll(/<section aria-labelledby="(\w+)"><h2 id="(\w+)"/g)];
    for (const [, label, id] of sections) expect(label).toBe(id);
    expect(sections).toHaveLength(html.match(/<section/g)?.length ?? 0);
  });

  test("can be asked for by its head alone, and comes as it is to who takes no gzip", async () => {
    const { address, get } = await serve({ fleet: async () => smallFleet });
    const head = await fetch(`${address}/`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const plain = await get("/", { "accept-encoding": "identity" });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(Number(plain.headers.get("content-length"))).toBeGreaterThan(1_000);
    expect(plain.headers.get("vary")).toBe("accept-encoding, cookie");
  });

  test("follows what happens unless it is asked not to, and keeps its place then", async () => {
    const refreshes = async (path: string) => {
      const { html, links } = await pageOf(path, { alerts: active(alertOf("RecordingOffline")) });
      const withScript = /<script src="(?:\.\.?\/)live-[0-9a-f]{16}\.js" data-events="\S+events" defer>/.test(html);
      expect(html.includes('<noscript><meta http-equiv="refresh" content="30"></noscript>')).toBe(withScript);
      expect(/<main [^>]*data-version="[\w-]+"/.test(html)).toBe(withScript);
      return [withScript, links.get("Pause updates") ?? links.get("Resume updates")];
    };
    expect(await refreshes("/")).toEqual([true, "?refresh=off"]);
    expect(await refreshes("/?refresh=off&utm_source=mail&location=&q=")).toEqual([false, "?"]);
    expect(await refreshes("/?q=e")).toEqual([false, undefined]);
    expect(await refreshes("/?location=leeds")).toEqual([true, "?location=leeds&refresh=off"]);
    expect(await refreshes("/?location=leeds&refresh=off")).toEqual([false, "?location=leeds"]);
    expect(await refreshes(`${pages.alert}?refresh=off`)).toEqual([false, "?"]);
  });

  test("says that its data is old, in the tab, in a banner and in the footer", async () => {
    const recordings = [recordingState("a", { readAt: NOW - 12 * MINUTE })];
    const shard = { sweptAt: NOW - 12 * MINUTE, locations: new Map() };
    const attempt = { goodAt: NOW - 12 * MINUTE, attemptedAt: NOW - 12 * MINUTE };
    const unswept = { kind: "unasked", attempts: [attempt], error: undefined } as const;
    const counted = {
      known: 1,
      unread: 1,
      late: 0,
      isRare: false,
      unstored: 0,
      neverRead: 0,
      oldestAt: attempt.goodAt,
    };
    const evidence = { ...counted, state: "unreachable", causes: [unswept] } as const;
    const known = fleetOf({ shards: [{ ...shard, recordings: new Map(recordings.map((one) => [one.id, one])) }] });
    const fleet = { ...known, evidence };
    for (const path of ["/", "/?show=locations", "/?show=silences", "/recordings/a"]) {
      const { title, html, shown } = await pageOf(path, { fleet: async () => fleet });
      expect(title, path).toMatch(/^! Old data · /);
      expect(html, path).toContain('<div id="banner" class="banner critical" role="alert">');
      expect(shown, path).toContain("Recordings are not swept, since 11:48 UTC (12 m).");
      expect(shown.join(), path).toContain("Last good reading at 11:48:00 UTC; asked at");
    }
    const { html } = await pageOf("/", { alerts: active(unreachable) });
    expect(html).toContain('<div id="banner" class="banner critical" role="alert">');
  });
});

describe("an unknown path", () => {
  test.each(["/nothing", "/recordings", "/a/b/c/d?e=f/g", "//evil.example/x", "/%2e%2e/x", "/recordings/%3Cb%3E"])(
    "%s is a page for browsers, with a search and a link that lead home",
    async (path) => {
      const { address, get } = await serve({ adminToken: "boss-token", readToken: "read-token" });
      const headers = { accept: "text/html,*/*;q=0.8", authorization: "Bearer read-token" };
      const response = await get(path, headers);
      const html = await response.text();
      expect(response.status).toBe(404);
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(html).not.toContain("<b>");
      const action = /role="search" action="([^"]*)"/.exec(html)?.[1] ?? "";
      for (const link of [action, linksOf(html).get("To the status page") ?? ""])
        expect(new URL(link, address + path).href).toBe(`${address}/`);
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

  test.each([
    "/recordings/nobody",
    "/recordings/",
    "/recordings/__proto__",
    "/?location=nowhere",
    "/?l=nowhere",
    "/alerts/0011223344556677",
  ])("%s says that it is not known, with a way back", async (path) => {
    const { status, heading, links } = await pageOf(path);
    expect([status, heading]).toEqual([404, "Not found"]);
    expect(links.get("To the status page")).toMatch(/^\.\.?\/$/);
  });
});

describe("what is refused", () => {
  test("asks to sign in where reading needs a token, and tells nothing of the fleet", async () => {
    const { get } = await serve({ readToken: "secret-1", fleet: async () => smallFleet });
    for (const path of ["/", "/recordings/till-3", "/recordings/nobody", "/alerts/nobody", "/silences/new"]) {
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

  test.each([
    ["/", { fleet: never }],
    ["/", { alerts: never }],
    ["/", { fleet: () => Promise.reject(new StoreError("unavailable", "Redis at 10.0.0.1 is away.")) }],
    ["/recordings/till-3", { episodes: never }],
  ])("says of %s that nothing is known while it cannot be read: %#", async (path, deps) => {
    const { status, title, html } = await pageOf(path, { ...deps, limits: { readMs: 20 } });
    expect([status, title]).toEqual([503, "The state cannot be read now · lenswatch"]);
    expect(/>online|10\.0\.0\.1/.exec(html)).toBeNull();
    expect(html).toContain('<meta http-equiv="refresh" content="30">');
  });

  test("tells of a fault of its own no more than that", async () => {
    const { status, heading, html } = await pageOf("/", { fleet: () => Promise.reject(new Error("at line 12")) });
    expect([status, heading]).toEqual([500, "A fault of lenswatch"]);
    expect(html).not.toContain("line 12");
  });

  test.each(["/?show=x", "/?cursor=x", "/?refresh=on", "/?q=a&q=b", `/?q=${"a".repeat(300)}`, "/incidents?days=2"])(
    "%s names what is wrong, with a way back",
    async (path) => {
      const { status, shown, links } = await pageOf(path);
      expect(status).toBe(400);
      expect(shown.join(" ")).toContain(`${path.split(/[?=]/)[1]}: expected`);
      expect(links.get("To the status page")).toBe("./");
    },
  );
});
