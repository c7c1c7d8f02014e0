import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AuditEntry } from "../../src/alerting/audit.ts";
import type { ReportRequest } from "../../src/report/report.ts";
import { NOW } from "../metrics/fleets.ts";
import { formToken, signedIn } from "./page/visitor.ts";
import { anAccess, aReport, type Differing, serve } from "./serve.ts";

const DAY = 86_400_000;
const asked = `period=1d&by=region&timezone=Europe/London&matchers=${encodeURIComponent('organisation="acme"')}`;

async function served(over: Differing = {}) {
  const requests: ReportRequest[] = [];
  const entries: AuditEntry[] = [];
  let now = NOW;
  const made = await serve({
    readToken: "reader",
    adminToken: "boss",
    clock: { now: () => now },
    audit: (entry) => void entries.push(entry),
    report: async (request) => {
      requests.push(request);
      return aReport("Leeds Briggate");
    },
    ...over,
  });
  const link = async (token: string) => {
    const init = { method: "POST", headers: { authorization: `Bearer ${token}` } };
    return await fetch(`${made.address}/api/v1/report/links?${asked}`, init);
  };
  const linked = async (token = "reader") => ((await (await link(token)).json()) as { url: string }).url;
  return { ...made, requests, entries, link, linked, pass: (ms: number) => (now += ms) };
}

describe("a link to a report", () => {
  test("shows this report, alone, to a reader without a token", async () => {
    const { get, linked, requests, entries } = await served();
    const url = await linked();
    const answer = await get(url);
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(page).toContain("Leeds Briggate");
    expect(page.match(/(?:href|action)="[^"#]*"/g)?.filter((one) => !/icon|svg|style/.test(one))).toEqual([]);
    const both = requests.map(({ period: _, ...rest }) => JSON.stringify(rest));
    expect(both[1]).toBe(both[0]);
    expect(requests[1]?.period).toEqual({ from: NOW - DAY, to: NOW });
    expect((await get(`/report?${asked}`)).status).toBe(401);
    expect(entries).toMatchObject([
      { action: "report_shared", actor: { via: "token" }, after: { expires: expect.any(String) } },
    ]);
  });

  test("is good for a week", async () => {
    const { get, linked, pass } = await served();
    const url = await linked();
    pass(7 * DAY - 1);
    expect((await get(url)).status).toBe(200);
    pass(1);
    expect((await get(url)).status).toBe(403);
  });

  test("is for nothing but what it was made for", async () => {
    const { get, linked, requests } = await served();
    const parameters = [...new URL(await linked(), "http://here").searchParams];
    const before = requests.length;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(parameters.length - 1),
        fc.string({ maxLength: 70 }),
        fc.boolean(),
        async (i, text, drop) => {
          const [name, value] = parameters[i] ?? expect.fail();
          fc.pre(drop || text !== value);
          const changed = parameters.flatMap((one, j) => (j !== i ? [one] : drop ? [] : [[name, text]]));
          expect([400, 403]).toContain((await get(`/shared/report?${new URLSearchParams(changed)}`)).status);
        },
      ),
      { numRuns: 60 },
    );
    const twice = new URLSearchParams([...parameters, ["matchers", ""]]);
    expect((await get(`/shared/report?${twice}`)).status).toBe(400);
    expect(requests.length).toBe(before);
  });

  test.each<[string, Differing]>([
    ["is another", { readToken: "reader-2" }],
    ["is gone", { readToken: undefined }],
    [
      "is that of another name",
      { access: anAccess({ tokens: [{ name: "other", token: "reader", scopes: ["read"] }] }) },
    ],
    [
      "may not read any more",
      { access: anAccess({ tokens: [{ name: "read_token", token: "reader", scopes: ["silence"] }] }) },
    ],
  ])("ends when the token that made it %s", async (_, over) => {
    const { linked } = await served();
    const { get } = await served(over);
    expect((await get(await linked())).status).toBe(403);
  });

  test("is made by a token or somebody who signed in with one, nobody else", async () => {
    const { link, address, get, entries } = await served();
    expect((await link("wrong")).status).toBe(401);
    expect(await (await get("/report")).text()).not.toContain("Make a link");
    const visitor = await signedIn(address, "reader");
    const { html } = await visitor.get(`/report?${asked}`);
    const [, action = ""] = html.match(/method="post" action="(\?[^"]*)"/) ?? [];
    const form = formToken(html);
    const shown = await visitor.post(`/report${action.replaceAll("&amp;", "&")}`, { form });
    const [, path = ""] = (await shown.text()).match(/href="[.](\/shared\/report[^"]*)"/) ?? [];
    expect((await get(path.replaceAll("&amp;", "&"))).status).toBe(200);
    const shared = () => entries.filter(({ action, outcome }) => action === "report_shared" && outcome === "done");
    expect(shared()).toHaveLength(1);
    expect((await visitor.post(`/report?${asked}`, { form: "x" })).status).toBe(403);
    expect((await fetch(`${address}/report?${asked}`, { method: "POST" })).status).not.toBe(200);
    expect(shared()).toHaveLength(1);
  });

  test("is not made with a token whose links nobody could read, where reading needs none", async () => {
    const tokens = [{ name: "oncall", token: "oncall", scopes: ["silence"] }] as const;
    const { link, address, entries } = await served({ access: anAccess({ tokens, isReadingOpen: true }) });
    expect((await link("oncall")).status).toBe(403);
    const visitor = await signedIn(address, "oncall");
    expect((await visitor.get(`/report?${asked}`)).html).not.toContain("Make a link");
    expect(entries.filter(({ action }) => action === "report_shared")).toEqual([]);
  });
});
