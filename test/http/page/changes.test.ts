import { describe, expect, test } from "vitest";
import { incidentsOf } from "../../../src/alerting/incident.ts";
import { createMatcher, formatMatcher } from "../../../src/alerting/matcher.ts";
import type { Silence, WantedSilence } from "../../../src/alerting/silence.ts";
import type { HttpDeps } from "../../../src/http/deps.ts";
import { spanOf } from "../../../src/http/page/silence-request.ts";
import { toStoredEpisode } from "../../../src/store/episodes.ts";
import { largeFleet, NOW } from "../../metrics/fleets.ts";
import { aSilence } from "../../support/fixtures.ts";
import { ackDone, serve } from "../serve.ts";
import { holdsInMemory } from "../silences.ts";
import { active, alertOf, dark, locationOffline, print, smallFleet } from "./fleet.ts";
import { elementOf, linksOf, shownText } from "./read-page.ts";
import { formToken, signedIn, visit } from "./visitor.ts";

const HOUR = 3_600_000;
const low = alertOf("LowUptime", {
  subject: { kind: "recording", id: "shoes" },
  labels: { alertname: "LowUptime", recording_id: "shoes", recording: "Shoes", location_id: "york", location: "York" },
});

/** A server that writes down what it was asked to change. */
async function stage(differing: Parameters<typeof serve>[0] = {}) {
  const changes: unknown[] = [];
  const { address } = await serve({
    ...{ adminToken: "boss-token", readToken: "read-token", fleet: async () => smallFleet, alerts: active(dark, low) },
    setSilence: async (wanted) => {
      changes.push(wanted);
      return { outcome: "set", id: "s1" };
    },
    endSilence: async (id) => changes.push(id) > 0,
    extendSilence: async (id, until) => changes.push([id, until]) > 0,
    acknowledge: async (fingerprint, by) => {
      if (fingerprint !== print) return { outcome: "not_firing" };
      changes.push([fingerprint, by]);
      return ackDone;
    },
    ...differing,
  });
  const keeper = await (differing && "adminToken" in differing ? undefined : signedIn(address, "boss-token"));
  return { address, changes, keeper: keeper ?? visit(address) };
}

const form = "/silences/new?matchers=alertname%3D%22RecordingOffline%22%2C+recording_id%3D%22till-3%22";
const wanted = { matchers: 'alertname="RecordingOffline", recording_id="till-3"', comment: "rewiring" };
const formOf = (fields: Record<string, string>) => `/silences/new?${new URLSearchParams(fields)}`;

describe("the form for a silence", () => {
  test("offers the same wider, and until the next morning", async () => {
    const { html } = await (await stage()).keeper.get(form);
    const parameter = (words: string, name: string) =>
      new URL(linksOf(html).get(words) ?? "", "http://x/silences/").searchParams.get(name);
    expect(parameter("All of Till 3", "matchers")).toBe('recording_id="till-3"');
    expect(parameter("All of Leeds Briggate", "matchers")).toBe('location_id="leeds"');
    expect(parameter("until Sun 1 Feb 08:00 UTC", "lasting")).toBe("2026-02-01T08:00:00.000Z");
    expect(html).toContain('aria-current="true"><bdi>This alert, RecordingOffline</bdi>');
    expect(html).not.toContain('class="caution warning"');
  });

  test.each([
    ["Leeds Briggate", 'location_id="leeds"', "1 alert for 1 h"],
    [" Till 3 · Leeds Briggate ", 'recording_id="till-3"', "1 alert for 1 h"],
    ["York · 2", 'location="York · 2"', "later alerts for 1 h"],
    ['location="York"', 'location="York"', "1 alert for 1 h"],
  ])("takes %j, which is offered as it is typed where it is a name, for %s", async (typed, matchers, words) => {
    const { html } = await (await stage()).keeper.get(formOf({ matchers: typed }));
    expect(html).toContain(`name="matchers" value="${matchers.replaceAll('"', "&quot;")}"`);
    expect(html).toContain(`<button class="main">Silence ${words}</button>`);
    const [, offered = ""] = /<datalist id="names">(.*?)<\/datalist>/s.exec(html) ?? [];
    expect(html).toContain(' list="names"');
    expect(offered.includes(`<option value="${typed.trim()}">`)).toBe(/^(?:Leeds|Till)/.test(typed.trim()));
  });

  test.each(["/?location=bath", "/recordings/door"])("is filled in at %s, where all is well", async (path) => {
    const { keeper } = await stage();
    const [, words, link] =
      /href="([^"]*silences[^"]*)">Silence this (\w+)…</.exec((await keeper.get(path)).html) ?? [];
    const { html } = await keeper.get(new URL(words?.replaceAll("&amp;", "&") ?? "", `http://x${path}`).href.slice(8));
    expect(html).toContain(link === "location" ? "location_id=&quot;bath&quot;" : "recording_id=&quot;door&quot;");
    expect(html).toContain("Silence later alerts for 1 h");
  });

  test("two locations of one name are meant both by it", async () => {
    const { inventory } = smallFleet;
    const location = (id: string) => ({ id, name: "Shop", timezone: undefined });
    const fleet = async () => ({ ...smallFleet, inventory: { ...inventory, location } });
    const { html } = await (await stage({ fleet })).keeper.get(formOf({ matchers: "Shop" }));
    expect(html).toContain('name="matchers" value="location=&quot;Shop&quot;"');
  });

  const every = "It covers every recording: no outage would be notified.";
  test.each([
    ['location_id=~".+"', every],
    ['alertname=~".+"', every],
    ['alertname="RecordingOffline"', every],
    ['alertname="CameraDark"', every],
    ['severity="critical"', every],
    ['location_id=~"leeds|york"', "It suppresses every firing alert."],
    [
      'alertname=~".*"',
      "It would match every alert and cannot be set: add a matcher that does not match the empty string.",
    ],
    ['alertname="LowQuality"', undefined],
    ['alertname="ServiceUnreachable"', undefined],
    ['alertname=~"Service.*|NotificationsFailing"', undefined],
  ])("%s is warned of: %s", async (matchers, warning) => {
    const { html } = await (await stage()).keeper.get(formOf({ matchers }));
    const warnings = [...html.matchAll(/class="caution warning" role="alert">([^<]*)/g)].map(([, words]) => words);
    expect(warnings).toEqual(warning === undefined ? [] : expect.arrayContaining([warning]));
  });

  test.each([
    ['alertname="LowQuality"', "6 of 6"],
    ['alertname="ServiceUnreachable"', "0 of 6"],
    ['recording=~"Camera 1.*"', "1,111 of 10,000"],
  ])("%s covers %s recordings", async (matchers, covered) => {
    const fleet = covered.endsWith("10,000") ? largeFleet(10_000) : smallFleet;
    const { html } = await (await stage({ fleet: async () => fleet })).keeper.get(formOf({ matchers }));
    expect(shownText(html).join("\n")).toContain(`its matchers cover ${covered} recordings.`);
  });

  test.each([
    ["alertname=", "Location, camera or matchers: column 11: expected"],
    ['alertname=~"("', 'Location, camera or matchers: column 12: "(" is not a regular expression RE2 understands'],
    ['a="b" c="d"', "Location, camera or matchers: column 7: expected the end"],
  ])("names what is wrong with %s, and keeps it to be corrected", async (matchers, message) => {
    const page = await (await stage()).keeper.get(formOf({ matchers }));
    expect(page.status).toBe(400);
    expect(shownText(page.html).join("\n")).toContain(message);
    expect(page.html).toContain('aria-invalid="true"');
    expect(page.html).toContain(`value="${matchers.replaceAll('"', "&quot;")}"`);
  });

  test("previews for who may change nothing, and offers to sign in, with another token where one was used", async () => {
    const { address } = await stage({ readToken: undefined });
    const { html } = await visit(address).get(form);
    expect(shownText(html).join("\n")).toContain("cover 1 of 6 recordings");
    const link = linksOf(html).get("sign in with a token that has the scope silence");
    expect(link).toMatch(/^\.\.\/session\?to=silences%2Fnew/);
    expect(html).not.toMatch(/name="lasting" value="1h"|method="post" action="\.\.\/silences/);
    const alert = `/alerts/${print}`;
    expect(linksOf((await visit(address).get(alert)).html).has("Sign in to acknowledge")).toBe(true);
    const reader = await signedIn((await stage()).address, "read-token", "rita");
    expect(linksOf((await reader.get(alert)).html).has("Sign in with another token to acknowledge")).toBe(true);
  });
});

describe("an incident", () => {
  const together = ["a", "b", "c"].map((id, i) => locationOffline(`l.${id}`, { startsAt: NOW - (12 + i) * 60_000 }));
  const alerts = async () => [
    ...together.map((alert) => ({ alert, receivers: ["ops"] })),
    {
      alert: { ...dark, startsAt: NOW - 13 * 60_000 },
      receivers: ["ops"],
      acknowledgement: { author: "sam", comment: "", at: NOW },
    },
  ];
  const buttonsOf = (html: string) => ({
    form: formToken(html),
    incident: /name="incident" value="([^"]*)"/.exec(html)?.[1] ?? "",
    seen: /name="seen" value="(\d+)"/.exec(html)?.[1] ?? "",
  });

  test("is acknowledged as a whole, but for what fired after the page was made or is taken care of", async () => {
    const asked: unknown[] = [];
    const acknowledgeEach: HttpDeps["acknowledgeEach"] = async (given, by) => {
      asked.push([given, by]);
      return [];
    };
    const { keeper } = await stage({ alerts, acknowledgeEach });
    const buttons = buttonsOf((await keeper.get("/")).html);
    const done = await keeper.post("/incidents/ack", buttons);
    expect([done.status, done.headers.get("location")]).toEqual([303, "../"]);
    expect(asked).toEqual([[together, { author: "dana", comment: "", isFirst: true }]]);
    expect((await keeper.post("/incidents/ack", { ...buttons, seen: String(NOW - HOUR) })).status).toBe(404);
    expect((await keeper.post("/incidents/ack", { form: buttons.form })).status).toBe(400);
    expect(asked).toHaveLength(1);
  });

  test("of days is acknowledged on its own page, whose id is that of its first alert, which ended long ago", async () => {
    const asked: unknown[] = [];
    const acknowledgeEach: HttpDeps["acknowledgeEach"] = async (given) => {
      asked.push(...given);
      return [];
    };
    const [first, later] = [NOW - 50 * HOUR, NOW - 50 * HOUR + 1].map((startsAt, i) =>
      locationOffline("l.a", { startsAt, id: `l${i}@${startsAt}` }),
    );
    if (!first || !later) return expect.fail();
    const all = [toStoredEpisode({ ...first, endsAt: NOW - 49 * HOUR }), toStoredEpisode(later)];
    const episodes = async (since: number) => all.filter(({ endsAt = NOW }) => endsAt >= since);
    const { keeper } = await stage({
      alerts: async () => [{ alert: later, receivers: ["ops"] }],
      episodes,
      acknowledgeEach,
    });
    const [incident] = incidentsOf(all);
    expect(incident?.episodes).toHaveLength(2);
    const { html } = await keeper.get(`/incidents/${incident?.id}`);
    expect((await keeper.post("/incidents/ack", { ...buttonsOf(html), incident: incident?.id ?? "" })).status).toBe(
      303,
    );
    expect(asked).toEqual([later]);
  });

  test("that was acknowledged is so no more by one press, but for what somebody changed since", async () => {
    const clock = { now: () => NOW };
    const { deps, acks } = holdsInMemory(clock, together);
    const active = async () =>
      together.map((alert) => ({ alert, receivers: ["ops"], acknowledgement: acks.get(alert.id) }));
    const episodes = async () => together.map(toStoredEpisode);
    const { keeper } = await stage({ ...deps, alerts: active, episodes });
    const { html } = await keeper.get("/");
    expect(html).not.toContain("Undo");
    const { incident, ...rest } = buttonsOf(html);
    await keeper.post("/incidents/ack", { incident, ...rest });
    const undo = { form: rest.form, back: "" };
    for (const path of ["/", `/incidents/${incident}`])
      expect((await keeper.get(path)).html).toContain("<button>Undo the last change of 3 acknowledgements</button>");
    const one = acks.get(together[0]?.id ?? "") ?? expect.fail();
    acks.set(together[0]?.id ?? "", { ...one, comment: "mine", last: { at: NOW - 1 } });
    expect((await keeper.get("/")).html).toContain(">Undo the last change of 2 acknowledgements<");
    expect((await keeper.post(`/alerts/${incident}/undo`, undo)).status).toBe(303);
    expect([...acks.values()].map(({ until, comment }) => [until, comment])).toEqual([
      [undefined, "mine"],
      [NOW, ""],
      [NOW, ""],
    ]);
  });

  test("is silenced for an hour for a reason, and no more by one press, from its page on", async () => {
    const till = alertOf("RecordingOffline", { labels: { ...dark.labels, location_id: "l.a" } });
    const firing = [...together, { ...till, startsAt: NOW - 13 * 60_000 }];
    const { deps } = holdsInMemory({ now: () => NOW }, firing);
    const silencedBy = async () => ((await deps.silences()).some(({ endsAt }) => endsAt > NOW) ? ["s"] : []);
    const { keeper } = await stage({
      ...deps,
      alerts: async () =>
        Promise.all(firing.map(async (alert) => ({ alert, receivers: [], silencedBy: await silencedBy() }))),
      episodes: async () => firing.map(toStoredEpisode),
    });
    const board = (await keeper.get("/")).html;
    const { incident, ...rest } = buttonsOf(board);
    const path = `/incidents/${incident}`;
    expect(linksOf(board).get("Silence all 4…")).toBe(`.${path}#silence`);
    const { html } = await keeper.get(path);
    expect(html).toMatch(
      /<form class="sheet" id="silence".*<textarea id="comment"[^>]* required.*>Silence all 4 for 1 h</s,
    );
    const fields = { incident, ...rest, back: path.slice(1) };
    for (const comment of ["", " "])
      expect((await keeper.post("/incidents/silence", { ...fields, comment })).status).toBe(400);
    expect(await deps.silences()).toEqual([]);
    const done = await keeper.post("/incidents/silence", { ...fields, comment: "rewiring" });
    expect([done.status, done.headers.get("location")]).toEqual([303, `..${path}`]);
    const [{ matchers, ...silence }, ...others] = (await deps.silences()) as [Silence];
    expect([matchers.map(formatMatcher), others]).toEqual([['location_id=~"l\\\\.a|l\\\\.b|l\\\\.c"'], []]);
    expect(silence).toMatchObject({ endsAt: NOW + HOUR, createdBy: "dana", comment: "rewiring" });
    const after = (await keeper.get(path)).html;
    expect(shownText(after).join()).toMatch(/Silenced by dana until 13:00 UTC: rewiring.*Undo/);
    expect(after).not.toContain('id="silence"');
    const undone = await keeper.post("/incidents/undo", { form: rest.form, incident });
    expect([undone.status, undone.headers.get("location")]).toEqual([303, `..${path}`]);
    expect((await deps.silences()).map(({ endsAt }) => endsAt)).toEqual([NOW]);
    await keeper.post("/incidents/silence", { ...fields, comment: "rewiring" });
    for (const { id, endsAt } of await deps.silences())
      if (endsAt > NOW) await deps.endSilence(id, { actor: { via: "token", name: "ben" } });
    // One that somebody ended is not in force again by this button.
    expect((await keeper.post("/incidents/undo", { form: rest.form, incident })).status).toBe(404);
    expect((await keeper.get(path)).html).not.toContain("Undo");
  });

  test("has no buttons for who may change nothing, and takes nothing from them", async () => {
    const { address, changes } = await stage({ alerts });
    const reader = await signedIn(address, "read-token", "rita");
    expect((await reader.get("/")).html).not.toContain("<button name=");
    expect((await reader.post("/incidents/ack", { incident: "I-00000", seen: "1", form: "x" })).status).toBe(403);
    expect(changes).toEqual([]);
  });
});

describe("a silence", () => {
  const leeds = 'location_id="leeds"';
  test.each([
    [{ lasting: "1h" }, undefined, NOW + HOUR],
    [{ lasting: "2026-02-01T08:00:00.000Z" }, undefined, Date.parse("2026-02-01T08:00:00Z")],
    [{ lasting: "custom", custom: "1d12h" }, undefined, NOW + 36 * HOUR],
    // From and to are in the zone of its location.
    [{ lasting: "1h", starts: "tomorrow 08:00", matchers: leeds }, "2026-02-01T08:00Z", NOW + 21 * HOUR],
    [{ lasting: "dates", starts: "", ends: "22:00", matchers: leeds }, undefined, NOW + 10 * HOUR],
    [
      { lasting: "dates", starts: "2026-07-01T09:30", ends: "2026-07-01T18:00", matchers: leeds },
      "2026-07-01T08:30Z",
      Date.parse("2026-07-01T17:00Z"),
    ],
  ])("is set for %j by who signed in", async (fields, starts, endsAt) => {
    const { keeper, changes } = await stage();
    const response = await keeper.post("/silences/new", { ...wanted, ...fields }, { from: form });
    expect([response.status, response.headers.get("location")]).toEqual([303, "../?show=silences"]);
    const [{ matchers, ...rest }] = changes as [WantedSilence];
    const shared = { id: undefined, createdBy: "dana", comment: "rewiring", annotations: {} };
    expect(rest).toEqual({ ...shared, startsAt: starts && Date.parse(starts), endsAt });
    const given = "matchers" in fields ? fields.matchers : wanted.matchers;
    expect(matchers.map(formatMatcher).join(", ")).toBe(given);
  });

  test.each([
    [{ lasting: "1h", starts: "soon" }, "starts", "expected a time such as"],
    [{ lasting: "dates", ends: "" }, "ends", "expected a time such as"],
    [{ lasting: "dates", ends: "today 11:00" }, "ends", "has passed"],
    [{ lasting: "dates", starts: "+2h", ends: "+1h" }, "ends", "after its start"],
  ] as const)("a span of %j has a problem with %s", (fields, field, message) => {
    const span = spanOf({ custom: "", starts: "", ends: "", ...fields }, NOW, "UTC");
    expect(span).toEqual({ field, message: expect.stringContaining(message) });
  });

  test.each([
    [{}, "Silence 1 alert for 1 h"],
    [{ custom: "2h", starts: "22:00" }, "Silence 1 alert from 22:00 UTC for 2 h"],
    [{ ends: "tomorrow 09:00", custom: "2h" }, "Silence 1 alert until Sun 1 Feb 09:00 UTC"],
    [{ matchers: 'location_id=~"leeds|york"' }, "Silence 2 alerts for 1 h"],
    [{ matchers: 'alertname="New"' }, "Silence later alerts for 1 h"],
  ])("of %j has one button, which says %s and sets that", async (chosen, words) => {
    const { keeper, changes } = await stage();
    const { html } = await keeper.get(formOf({ ...wanted, ...chosen }));
    const [, own = ""] = /<form [^>]*method="post" action="..\/silences\/new">(.*?)<\/form>/s.exec(html) ?? [];
    expect(own.match(/<button[^>]*>[^<]*/g)).toEqual([`<button class="main">${words}`]);
    expect(own).not.toMatch(/type="(?:text|submit)"|<input(?![^>]*type="hidden")/);
    const hidden = [...own.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const fields = Object.fromEntries(hidden.map(([, name, value = ""]) => [name, value.replaceAll("&quot;", '"')]));
    expect((await keeper.post("/silences/new", { ...fields, comment: "why" })).status).toBe(303);
    expect(changes).toHaveLength(1);
  });

  test.each([{ custom: "soon" }, { ends: "some day" }, { starts: "never" }])("of %j has none", async (chosen) => {
    const page = await (await stage()).keeper.get(formOf({ ...wanted, ...chosen }));
    expect(page.status).toBe(400);
    expect(page.html).not.toContain('class="main"');
    expect(shownText(page.html).join("\n")).toMatch(/(?:For how long|Until|From): expected/);
  });

  const duration = "For how long: expected a duration such as 30m, 2h or 1d12h, of a year at most.";
  test.each([
    [{ lasting: "forever" }, "lasting: expected how long it lasts."],
    [{}, "lasting: expected how long it lasts."],
    [{ lasting: "2026-01-31T11:59:00.000Z" }, "lasting: that time has passed, choose another."],
    [{ lasting: "custom", custom: "soon" }, duration],
    [{ lasting: "custom", custom: "0s" }, duration],
    [{ lasting: "custom", custom: "2y" }, duration],
    [{ lasting: "1h", matchers: "" }, "Location, camera or matchers: at least one matcher is needed."],
    [
      { lasting: "1h", matchers: 'a=~".*"' },
      "Location, camera or matchers: at least one matcher must not match the empty string: this silence would match everything.",
    ],
    [{ lasting: "1h", matchers: "a={" }, "Location, camera or matchers: column 3: expected"],
    [{ lasting: "1h", comment: "x".repeat(1_001) }, "Reason: expected at most 1000 characters."],
    [{ lasting: "1h", comment: " \u200b" }, "Reason: expected the reason, or a ticket."],
  ])("is refused with %j, and nothing is changed", async (fields, message) => {
    const { keeper, changes } = await stage();
    const response = await keeper.post("/silences/new", { ...wanted, ...fields }, { from: form });
    expect(response.status).toBe(400);
    expect(shownText(await response.text()).join("\n")).toContain(message);
    expect(changes).toEqual([]);
  });

  test("that matches nothing is refused unless that is confirmed, and says what is similar", async () => {
    const { keeper, changes } = await stage();
    const typo = { ...wanted, matchers: 'location="Leeds Brigate"', lasting: "1h" };
    const response = await keeper.post("/silences/new", typo, { from: form });
    expect(response.status).toBe(400);
    const html = await response.text();
    const shown = shownText(html).join("\n");
    expect(shown).toContain('no location has the id or name "Leeds Brigate"; did you mean "Leeds Briggate" (leeds).');
    expect(shown).toContain("it matches nothing that is known, which has to be confirmed.");
    expect(html).toContain('<input type="checkbox" name="anyway" value="yes" required>');
    expect(changes).toEqual([]);
    expect((await keeper.post("/silences/new", { ...typo, anyway: "yes" }, { from: form })).status).toBe(303);
    expect(changes).toHaveLength(1);
    expect((await keeper.get(form)).html).not.toContain('name="anyway"');
  });

  test("that cannot be had says why", async () => {
    const { keeper } = await stage({ setSilence: async () => ({ outcome: "refused", why: "there are too many" }) });
    const response = await keeper.post("/silences/new", { ...wanted, lasting: "1h" }, { from: form });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The silence was refused: there are too many.");
  });
});

describe("the list of silences", () => {
  const from = "/?show=silences";
  const silence = (id: string, startsIn: number, endsIn: number): Silence =>
    aSilence({
      ...{ id, matchers: [createMatcher("location_id", "=", "leeds")], updatedAt: NOW - 2 * HOUR },
      ...{ startsAt: NOW + startsIn * HOUR, endsAt: NOW + endsIn * HOUR, comment: `why ${id}` },
    });
  const silences = async () => [silence("over", -3, -1), silence("later", 1, 2), silence("now", -1, 1)];
  const alerts = async () => [{ alert: dark, receivers: ["ops"], silencedBy: ["now"] }];

  test("has what holds first, what will, and what is over, with who, until when and why", async () => {
    const { html } = await (await stage({ silences, alerts })).keeper.get(from);
    const shown = shownText(html);
    expect(elementOf(html, "h1")).toBe("1 active silence");
    expect(shown.filter((line) => /^(?:Active|Pending|Expired)/.test(line))).toEqual([
      "Active until 13:00 GMT (1 h left) · suppresses 1 alert",
      "Pending from 13:00 GMT until 14:00 GMT",
      "Expired since 11:00 GMT",
    ]);
    expect(shown).toEqual(expect.arrayContaining(["why now", "by dana, set 10:00 GMT"]));
    expect(html.match(/>Expire</g)).toHaveLength(2);
  });

  test("ends one at a button, for who may", async () => {
    const { keeper, changes, address } = await stage({ silences, readToken: undefined });
    expect((await visit(address).get(from)).html).not.toContain(">Expire<");
    const response = await keeper.post("/silences/now/end", {}, { from });
    expect([response.status, response.headers.get("location")]).toEqual([303, "../../?show=silences"]);
    expect(changes).toEqual(["now"]);
  });

  test("undoes the last change of one for 15 minutes, also one that expired it", async () => {
    const undone: string[] = [];
    const of = (one: Silence, at: number): Silence => ({ ...one, last: { at } });
    const recent = async () => [of(silence("over", -3, 0), NOW), of(silence("now", -1, 1), NOW - HOUR / 4 + 1)];
    const old = [silence("later", 1, 2), of(silence("old", -1, 3), NOW - HOUR / 4)];
    const { keeper } = await stage({
      silences: async () => [...(await recent()), ...old],
      undoSilence: async (id) => (undone.push(id) > 1 ? "too_late" : "done"),
    });
    const { html } = await keeper.get(from);
    const offered = [...html.matchAll(/formaction="\.\/silences\/(\w+)\/undo"/g)].map(([, id]) => id);
    expect(offered.sort()).toEqual(["now", "over"]);
    expect(html.match(/>Expire</g)).toHaveLength(3);
    expect((await keeper.post("/silences/over/undo", {}, { from })).status).toBe(303);
    expect((await keeper.post("/silences/over/undo", {}, { from })).status).toBe(400);
    expect(undone).toEqual(["over", "over"]);
  });

  test("offers of each a later end, and lets it last that long however often that is pressed", async () => {
    const long = async () => [silence("now", -1, 1), silence("long", -1, 40), silence("year", -1, 365 * 24)];
    const { keeper, changes } = await stage({ silences: long });
    const { html } = await keeper.get(from);
    const offered = [...html.matchAll(/silences\/(\w+)\/extend" name="until" value="([^"]+)"[^>]*>([^<]+)</g)];
    expect(offered.map(([, id, until = "", words]) => [id, (Date.parse(until) - NOW) / HOUR, words])).toEqual([
      ["now", 2, "+1 h"],
      ["now", 20, "until Sun 1 Feb 08:00 GMT"],
      ["long", 41, "+1 h"],
    ]);
    expect((await keeper.post("/silences/now/extend", { until: offered[0]?.[2] ?? "" }, { from })).status).toBe(303);
    expect(changes).toEqual([["now", NOW + 2 * HOUR]]);
    for (const until of ["", "tomorrow", new Date(NOW + 366 * 24 * HOUR).toISOString()])
      expect((await keeper.post("/silences/now/extend", { until }, { from })).status, until).toBe(400);
    expect(changes).toHaveLength(1);
  });

  test.each(["end", "extend"])("cannot %s one that is over meanwhile", async (action) => {
    const { keeper } = await stage({ silences, extendSilence: async () => false, endSilence: async () => false });
    const until = new Date(NOW + 2 * HOUR).toISOString();
    expect((await keeper.post(`/silences/now/${action}`, { until }, { from })).status).toBe(404);
  });
});

describe("an acknowledgement", () => {
  test.each([`/alerts/${print}`, "/recordings/till-3"])("is a button of %s, which leads back there", async (from) => {
    const { keeper, changes } = await stage();
    const { html } = await keeper.get(from);
    const back = /name="back" value="([^"]*)"/.exec(html)?.[1] ?? "";
    const response = await keeper.post(`/alerts/${print}/ack`, { form: formToken(html), back });
    expect([response.status, response.headers.get("location")]).toEqual([303, `../..${from}`]);
    expect(changes).toEqual([[print, { author: "dana", comment: "" }]]);
  });

  test("has an owner and an ETA in the zone of the alert, and can be undone once", async () => {
    const memory = holdsInMemory({ now: () => NOW }, [dark]);
    const { keeper } = await stage(memory.deps);
    const page = async () => (await keeper.get(`/alerts/${print}`)).html;
    const post = async (action: string, fields: Record<string, string>) =>
      (await keeper.post(`/alerts/${print}/${action}`, fields, { from: form })).status;
    expect(await page()).toMatch(/name="owner" form="ack".*name="eta" form="ack"/s);
    for (const eta of ["soon", "today 11:00"]) expect(await post("ack", { eta }), eta).toBe(400);
    expect(await post("ack", { owner: "amy", eta: "13:30" })).toBe(303);
    expect(memory.acks.get(dark.id)).toMatchObject({ author: "amy", eta: NOW + 1.5 * HOUR });
    expect(await post("undo", {})).toBe(303);
    expect(memory.acks.get(dark.id)).toMatchObject({ until: NOW });
    expect(await post("undo", {})).toBe(400);
  });

  test("has a reason and an end; it can be withdrawn, and noted by others", async () => {
    const memory = holdsInMemory({ now: () => NOW }, [dark]);
    const { keeper } = await stage(memory.deps);
    const post = async (action: string, fields: Record<string, string>) =>
      (await keeper.post(`/alerts/${print}/${action}`, fields, { from: form })).status;
    expect(await post("note", { text: "x" })).toBe(404);
    expect(await post("withdraw", {})).toBe(404);
    expect(await post("ack", { comment: " on my\u0007 way ", for: "2h" })).toBe(303);
    expect(memory.acks.get(dark.id)).toMatchObject({ author: "dana", comment: "on my way", until: NOW + 2 * HOUR });
    expect(await post("note", { text: "the fuse?" })).toBe(303);
    expect(await post("withdraw", {})).toBe(303);
    expect(memory.acks.get(dark.id)).toMatchObject({ until: NOW, notes: [{ author: "dana", text: "the fuse?" }] });
    for (const [action, fields] of [
      ["ack", { for: "soon" }],
      ["ack", { for: "2y" }],
      ["ack", { comment: "x".repeat(1_001) }],
      ["note", { text: " " }],
      ["note", { text: "x".repeat(501) }],
    ] as const)
      expect(await post(action, fields), JSON.stringify(fields)).toBe(400);
  });

  test("of an alert that is over says so", async () => {
    const { keeper, changes } = await stage();
    const response = await keeper.post("/alerts/0011223344556677/ack", {}, { from: form });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain(
      "No firing alert has this fingerprint, or is in this incident; it may have resolved.",
    );
    expect(changes).toEqual([]);
  });
});

describe("what changes something", () => {
  const one = ["end", "extend", "undo"].map((change) => `/silences/now/${change}`);
  const whole = ["ack", "silence", "undo"].map((change) => `/incidents/${change}`);
  const paths = ["/silences/new", ...one, ...whole, `/alerts/${print}/ack`, `/alerts/${print}/undo`];
  const fields = { ...wanted, lasting: "1h" };

  test.each(paths)("%s needs a session from the admin token, and a form made for it here", async (path) => {
    const { address, changes, keeper } = await stage();
    const refused = async (response: Response, status: number, words: string) =>
      expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(words)]);
    await refused(await visit(address).post(path, fields), 401, "Your session has ended: nothing was changed.");
    const reader = await signedIn(address, "read-token");
    await refused(await reader.post(path, fields), 403, "lacks the scope silence");
    const another = formToken((await (await signedIn(address, "boss-token")).get(form)).html);
    for (const token of [{}, { form: "" }, { form: "x" }, { form: another }])
      await refused(await keeper.post(path, { ...fields, ...token }), 403, "The form is not of your session");
    const elsewhere: Record<string, string>[] = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
      { origin: "null" },
    ];
    for (const headers of elsewhere)
      expect((await keeper.post(path, fields, { from: form, headers })).status, JSON.stringify(headers)).toBe(403);
    for (const headers of [{ cookie: keeper.cookie }, { authorization: "Bearer boss-token" }]) {
      const sent = { ...(headers as Record<string, string>), "content-type": "application/json" };
      const response = await fetch(address + path, { method: "POST", headers: sent, body: JSON.stringify(fields) });
      expect([401, 403]).toContain(response.status);
    }
    expect(another).not.toBe("");
    expect(changes).toEqual([]);
  });

  test.each(paths)("%s says that nothing can be changed where no admin token is configured", async (path) => {
    const { keeper, changes } = await stage({ adminToken: undefined });
    const response = await keeper.post(path, fields);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("no http.admin_token is configured");
    expect(changes).toEqual([]);
  });
});
