import { describe, expect, test } from "vitest";
import type { StoredAuditEntry } from "../../src/alerting/audit.ts";
import type { HttpDeps } from "../../src/http/deps.ts";
import { stripControls } from "../../src/lib/text.ts";
import { lenswatch } from "../commands/run-command.ts";
import { NOW } from "../metrics/fleets.ts";
import { POISONS } from "../support/hostile-names.ts";
import { smallFleet } from "./page/fleet.ts";
import { elementOf, linksOf, shownText } from "./page/read-page.ts";
import { signedIn, visit } from "./page/visitor.ts";
import { serve, sessionsInMemory } from "./serve.ts";

const adminToken = "admin-token-of-32-characters-long";
const readToken = "read-token-of-32-characters-long.";
const fleet = async () => smallFleet;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const entry = (n: number, changes: Partial<StoredAuditEntry> = {}): StoredAuditEntry => ({
  id: `${NOW - n}-0e`,
  at: NOW - n,
  actor: { via: "token", name: "admin_token" },
  address: "10.0.0.7",
  action: "silence_set",
  outcome: "done",
  target: `silence-${n}`,
  after: { matchers: 'severity="warning"', comment: "rewiring" },
  ...changes,
});

/** The newest first. */
const entries: readonly StoredAuditEntry[] = [
  entry(1, { actor: { via: "session", name: "oncall", person: "Dana" }, action: "acknowledged" }),
  entry(2, {
    action: "refused",
    outcome: "refused",
    reason: "wrong_token",
    target: "GET /metrics",
    count: 12,
    until: NOW,
    after: undefined,
  }),
  entry(3, {
    action: "silence_changed",
    before: { matchers: "x", comment: "a" },
    after: { matchers: "x", comment: "b" },
  }),
  entry(4, {
    actor: { via: "signal", name: "SIGHUP" },
    action: "reload",
    target: undefined,
    address: undefined,
    after: { changed: "route" },
  }),
  entry(5, {
    actor: { via: "token", name: "night" },
    after: { matchers: "x", endsAt: "2026-01-31T14:00:00.123Z", comment: "" },
  }),
  entry(6, { actor: { via: "token", name: "day" }, before: { comment: "a" }, after: { comment: "" } }),
  ...Array.from({ length: 198 }, (_, i) => entry(i + 7)),
];

const start = (differing: Partial<HttpDeps> = {}) =>
  serve({ adminToken, readToken, fleet, auditLog: async () => entries, ...differing });

type Rows = { items: { text: string; target: string | null }[]; nextCursor: string | null };

describe("GET /api/v1/audit", () => {
  test.each([
    [{}, 401],
    [bearer(readToken), 403],
    [bearer(adminToken), 200],
  ])("with %j is answered %i", async (headers, status) => {
    const { json } = await start();
    expect((await json("/api/v1/audit", headers)).status).toBe(status);
  });

  test("gives every entry once, the newest first, page by page", async () => {
    const { json } = await start();
    const targets: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const path: string = `/api/v1/audit?limit=50${cursor && `&cursor=${cursor}`}`;
      const { items, nextCursor } = (await json(path, bearer(adminToken))).body as Rows;
      targets.push(...items.map(({ target }) => target));
      cursor = nextCursor;
    }
    expect(targets).toEqual(entries.map(({ target = null }) => target));
  });

  test.each([
    ["person=dana", ['acknowledged silence-1: matchers severity="warning"; comment rewiring']],
    ["person=sighup&action=reload", ["reloaded the configuration: changed route"]],
    ["action=refused", ["GET /metrics refused: wrong token, 12 more"]],
    ["action=silence_changed", ["changed silence silence-3: comment a → b"]],
    ["person=night", ["set silence silence-5: matchers x; until 2026-01-31 14:00 UTC"]],
    ["person=day", ["set silence silence-6: comment a → none"]],
    ["person=nobody", []],
  ])("?%s gives those, in words", async (query, texts) => {
    const { json } = await start();
    const { items } = (await json(`/api/v1/audit?${query}`, bearer(adminToken))).body as Rows;
    expect(items.map(({ text }) => text)).toEqual(texts);
  });

  test("asks for the last day unless told since when", async () => {
    const since: number[] = [];
    const auditLog = async (at: number) => {
      since.push(at);
      return [];
    };
    const { json } = await start({ auditLog });
    await json("/api/v1/audit", bearer(adminToken));
    await json("/api/v1/audit?since=2026-01-02T03:04:05Z", bearer(adminToken));
    expect(since).toEqual([NOW - 86_400_000, Date.UTC(2026, 0, 2, 3, 4, 5)]);
  });
});

describe("the page /audit", () => {
  test("is linked and shown to admins alone", async () => {
    const { address } = await start();
    const [admin, reader] = [await signedIn(address, adminToken), await signedIn(address, readToken, "rita")];
    expect(linksOf((await admin.get("/")).html).get("Audit log")).toBe("./audit");
    expect(linksOf((await admin.get("/recordings/till-3")).html).get("Audit log")).toBe("../audit");
    expect(linksOf((await reader.get("/")).html).has("Audit log")).toBe(false);
    const refused = await reader.get("/audit");
    expect([refused.status, elementOf(refused.html, "h1")]).toEqual([403, "Not allowed"]);
    expect((await visit(address).get("/audit")).status).toBe(401);
    const page = await admin.get("/audit?person=Dana");
    expect(page.status).toBe(200);
    expect(shownText(page.html).join(" ")).toMatch(/Dana \(oncall\).*10\.0\.0\.7.*acknowledged silence-1/);
    expect(page.html).toMatch(/<time datetime="[^"]+"[^>]*>\d\d:\d\d UTC/);
    expect(page.html).toContain('name="person" value="Dana"');
  });

  test("pages, keeping its filter", async () => {
    const { address } = await start();
    const admin = await signedIn(address, adminToken);
    const { html } = await admin.get("/audit?action=silence_set&days=7");
    const next = linksOf(html).get("100 more entries") ?? "";
    expect(next).toMatch(/^audit\?action=silence_set&days=7&cursor=/);
    expect(shownText((await admin.get(`/${next}`)).html).join(" ")).toContain("101–200 of 200 entries");
    expect((await admin.get("/audit?days=2")).status).toBe(400);
  });
});

describe("hostile text in an entry", () => {
  const poisoned = POISONS.map((poison, i) =>
    entry(i, {
      actor: { via: "session", name: poison, person: poison },
      address: poison,
      target: poison,
      before: { comment: "" },
      after: { comment: poison },
    }),
  );
  const auditLog = async () => poisoned;

  test("is text on the page", async () => {
    const { address } = await start({ auditLog });
    const { html } = await (await signedIn(address, adminToken)).get("/audit");
    expect(html).not.toMatch(/<script>alert|<img|<svg\/onload|<\/textarea><script/);
    expect(html).not.toContain('" onmouseover="');
  });

  test("moves no cursor on a terminal, as a table and as JSON", async () => {
    const { address } = await start({ auditLog });
    for (const output of ["table", "json"]) {
      const run = await lenswatch(["audit", "--url", address, "--output", output], {
        LENSWATCH_ADMIN_TOKEN: adminToken,
      });
      expect([run.exitCode, run.stderr]).toEqual([0, ""]);
      for (const line of run.stdout.split("\n")) expect(stripControls(line)).toBe(line);
    }
  });
});

describe("lenswatch audit and lenswatch sessions", () => {
  const env = { LENSWATCH_ADMIN_TOKEN: adminToken };

  test("prints who did what, from where and when", async () => {
    const { address } = await start({ auditLog: async () => entries.slice(0, 4) });
    const { stdout } = await lenswatch(["audit", "--url", address], env);
    expect(stdout).toContain("Dana (oncall)  10.0.0.7  acknowledged silence-1");
    expect(stdout).toContain("SIGHUP         –         reloaded the configuration: changed route");
    expect(stdout.split("\n")[1]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC /);
    expect((await lenswatch(["audit", "--url", address, "--action", "nothing"], env)).exitCode).toBe(2);
  });

  test("ends the sessions that are meant, and no other", async () => {
    const ended: StoredAuditEntry[] = [];
    const end: HttpDeps["sessions"]["end"] = async (ids, one) => {
      ended.push({ ...one, id: "" });
      return sessionsInMemory.end(ids, one);
    };
    const { address, get } = await start({ sessions: { ...sessionsInMemory, end } });
    const run = (...argv: string[]) => lenswatch(["sessions", ...argv, "--url", address], env);
    await run("revoke", "--all");
    const [dana, eli, rita] = [
      await signedIn(address, adminToken, "dana"),
      await signedIn(address, adminToken, "eli"),
      await signedIn(address, readToken, "rita"),
    ];
    const statuses = async () =>
      Promise.all([dana, eli, rita].map(async ({ cookie }) => (await get("/", { cookie })).status));
    expect((await run("revoke", "--name", "dana")).stdout).toBe("1 session revoked.\n");
    expect(await statuses()).toEqual([401, 200, 200]);
    expect(await run("revoke", "--name", "nobody")).toMatchObject({ exitCode: 1, stdout: "" });
    expect(await statuses()).toEqual([401, 200, 200]);
    expect(await run("revoke", "--name", "read_token")).toMatchObject({ exitCode: 0 });
    expect(await statuses()).toEqual([401, 200, 401]);
    expect(ended.at(-1)).toMatchObject({
      action: "sessions_revoked",
      actor: { name: "admin_token" },
      before: { people: "rita" },
    });
    for (const argv of [[], ["--all", "--name", "x"]]) expect((await run("revoke", ...argv)).exitCode).toBe(2);
    expect((await run("revoke", "--all")).stdout).toBe("1 session revoked.\n");
    expect(await statuses()).toEqual([401, 401, 401]);
  });
});
