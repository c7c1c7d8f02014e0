import { describe, expect, test } from "vitest";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import { createMatcher, formatMatcher } from "../../../src/alerting/matcher.ts";
import type { Silence, WantedSilence } from "../../../src/alerting/silence.ts";
import type { HttpDeps } from "../../../src/http/deps.ts";
import { spanOf } from "../../../src/http/page/silence-request.ts";
import { largeFleet, NOW } from "../../metrics/fleets.ts";
import { aSilence } from "../../support/fixtures.ts";
import { ackDone, serve } from "../serve.ts";
import { holdsInMemory } from "../silences.ts";
import { active, alertOf, smallFleet } from "./fleet.ts";
import { elementOf, linksOf, shownText } from "./read-page.ts";
import { formToken, signedIn, visit } from "./visitor.ts";

const HOUR = 3_600_000;
const fleet = async () => smallFleet;
const dark = alertOf("RecordingOffline");
const print = fingerprint(dark.labels);
const low = alertOf("LowUptime", {
  subject: { kind: "recording", id: "shoes" },
  labels: { alertname: "LowUptime", recording_id: "shoes", recording: "Shoes", location_id: "york", location: "York" },
});
const tokens = { adminToken: "boss-token", readToken: "read-token" };

/** A server that writes down what it was asked to change. */
async function stage(differing: Parameters<typeof serve>[0] = {}) {
  const changes: unknown[] = [];
  const { address } = await serve({
    ...tokens,
    fleet,
    alerts: active(dark, low),
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
  return { address, changes };
}

const form = "/silences/new?matchers=alertname%3D%22RecordingOffline%22%2C+recording_id%3D%22till-3%22";
const wanted = { matchers: 'alertname="RecordingOffline", recording_id="till-3"', comment: "rewiring" };

describe("the form for a silence", () => {
  test("says what it would hold before it is set", async () => {
    const { address } = await stage();
    const { html } = await (await signedIn(address, "boss-token")).get(form);
    expect(shownText(html)).toEqual(
      expect.arrayContaining([
        "Preview",
        "It would suppress 1 alert of 2 active now; its matchers cover 1 of 6 recordings.",
        "Offline RecordingOffline · critical | Till 3 Leeds Briggate | since 11:48 GMT | for 12 m | Unacknowledged",
      ]),
    );
    expect(html).not.toContain('class="warning"');
    const later = linksOf(html).get("until Sun 1 Feb 08:00 UTC") ?? "";
    expect(new URL(later, "http://x/silences/").searchParams.get("lasting")).toBe("2026-02-01T08:00:00.000Z");
  });

  test("offers the same wider: the recording, and the whole location", async () => {
    const { address } = await stage();
    const { html } = await visitAs(address, form);
    const links = linksOf(html);
    const matchers = (words: string) =>
      new URL(links.get(words) ?? "", "http://x/silences/").searchParams.get("matchers");
    expect(matchers("All of Till 3")).toBe('recording_id="till-3"');
    expect(matchers("All of loc-1")).toBe('location_id="loc-1"');
    expect(html).toContain('aria-current="true"><bdi>This alert, RecordingOffline</bdi>');
    expect(shownText(html)).toContain('alertname="RecordingOffline", recording_id="till-3" (Till 3)');
  });

  test.each([
    ['location_id=~".+"', "It covers every recording: no outage would be notified."],
    ['alertname=~".+"', "It covers every recording: no outage would be notified."],
    ['location_id=~"leeds|york"', "It suppresses every firing alert."],
    [
      'alertname=~".*"',
      "It would match every alert and cannot be set: add a matcher that does not match the empty string.",
    ],
  ])("warns of %s", async (matchers, warning) => {
    const { address } = await stage();
    const { html } = await visitAs(address, `/silences/new?matchers=${encodeURIComponent(matchers)}`);
    expect(shownText(html)).toContain(warning);
    expect(html).toContain('class="warning" role="alert"');
  });

  test.each([
    ['alertname="LowQuality"', "cover 6 of 6 recordings"],
    ['alertname="ServiceUnreachable"', "cover 0 of 6 recordings"],
    ['alertname=~"Service.*|NotificationsFailing"', "cover 0 of 6 recordings"],
  ])("does not warn of outages that %s holds none of", async (matchers, covers) => {
    const { address } = await stage();
    const { html } = await visitAs(address, `/silences/new?matchers=${encodeURIComponent(matchers)}`);
    expect(shownText(html).join("\n")).toContain(covers);
    expect(shownText(html).join("\n")).not.toContain("of no outage would anybody hear");
  });

  test.each(['alertname="RecordingOffline"', 'alertname="CameraDark"', 'severity="critical"'])(
    "warns of %s, which may hold every outage",
    async (matchers) => {
      const { address } = await stage();
      const { html } = await visitAs(address, `/silences/new?matchers=${encodeURIComponent(matchers)}`);
      expect(shownText(html)).toContain("It covers every recording: no outage would be notified.");
    },
  );

  test.each([
    ["alertname", "Matchers: column 10: expected one of = != =~ !~, found the end."],
    ['alertname=~"("', 'Matchers: column 12: "(" is not a regular expression RE2 understands'],
    ['a="b" c="d"', "Matchers: column 7: expected the end"],
    ['alertname=~"(?=x)"', "is not a regular expression RE2 understands"],
  ])("names what is wrong with %s, and keeps it to be corrected", async (matchers, message) => {
    const { address } = await stage();
    const page = await visitAs(address, `/silences/new?matchers=${encodeURIComponent(matchers)}`);
    expect(page.status).toBe(400);
    expect(shownText(page.html).join("\n")).toContain(message);
    expect(page.html).toContain('aria-invalid="true"');
    expect(page.html).toContain(`value="${matchers.replaceAll('"', "&quot;")}"`);
  });

  test("previews for who may change nothing, and offers to sign in", async () => {
    const { address } = await stage({ readToken: undefined });
    const { html, status } = await visit(address).get(form);
    expect(status).toBe(200);
    expect(shownText(html).join("\n")).toContain("cover 1 of 6 recordings");
    expect(linksOf(html).get("sign in with a token that has the scope silence")).toMatch(
      /^\.\.\/session\?to=silences%2Fnew/,
    );
    expect(html).not.toMatch(/name="lasting" value="1h"|method="post" action="\.\.\/silences/);
  });

  test("who has signed in with a token that changes nothing is offered another", async () => {
    const { address } = await stage();
    const alert = `/alerts/${print}`;
    const { html } = await (await signedIn(address, "read-token", "rita")).get(alert);
    expect(linksOf(html).get("Sign in with another token to acknowledge")).toMatch(/session\?to=/);
    const open = await stage({ readToken: undefined });
    expect(linksOf((await visit(open.address).get(alert)).html).has("Sign in to acknowledge")).toBe(true);
  });

  test("counts 10,000 recordings", async () => {
    const { address } = await stage({ fleet: async () => largeFleet(10_000) });
    const { html } = await visitAs(address, "/silences/new?matchers=recording%3D~%22Camera+1.*%22");
    expect(shownText(html).join("\n")).toContain("its matchers cover 1,111 of 10,000 recordings.");
  });
});

async function visitAs(address: string, path: string) {
  return (await signedIn(address, "boss-token")).get(path);
}

describe("a cluster", () => {
  const together = ["a", "b", "c"].map((id, i) =>
    alertOf("LocationOffline", {
      subject: { kind: "location", id: `l.${id}` },
      labels: { alertname: "LocationOffline", severity: "critical", location_id: `l.${id}`, location: id },
      startsAt: NOW - (12 + i) * 60_000,
      facts: { timezone: "UTC", problem: "location_offline" },
    }),
  );
  const held = { ...dark, startsAt: NOW - 13 * 60_000 };
  const alerts = async () => [
    ...together.map((alert) => ({ alert, receivers: ["ops"] })),
    { alert: held, receivers: ["ops"], acknowledgement: { author: "sam", comment: "", at: NOW } },
  ];
  const buttonsOf = (html: string) => ({
    form: formToken(html),
    cluster: /name="cluster" value="([^"]*)"/.exec(html)?.[1] ?? "",
    seen: /name="seen" value="(\d+)"/.exec(html)?.[1] ?? "",
  });

  test("is acknowledged as a whole, but for what fired after the page was made or is taken care of", async () => {
    const asked: unknown[] = [];
    const acknowledgeEach: HttpDeps["acknowledgeEach"] = async (given, by) => {
      asked.push([given, by]);
      return [];
    };
    const { address } = await stage({ alerts, acknowledgeEach });
    const keeper = await signedIn(address, "boss-token");
    const { html } = await keeper.get("/");
    expect(shownText(html)).toContain("Acknowledge all 3 Silence all 3 for 1 h");
    const done = await keeper.post("/clusters/ack", buttonsOf(html));
    expect([done.status, done.headers.get("location")]).toEqual([303, "../"]);
    expect(asked).toEqual([[together, { author: "dana", comment: "", isFirst: true }]]);
    const early = { ...buttonsOf(html), seen: String(NOW - 3_600_000) };
    expect((await keeper.post("/clusters/ack", early)).status).toBe(404);
    expect((await keeper.post("/clusters/ack", { form: early.form })).status).toBe(400);
    expect(asked).toHaveLength(1);
  });

  test("is silenced for an hour by as few silences as hold it", async () => {
    const { address, changes } = await stage({ alerts });
    const keeper = await signedIn(address, "boss-token");
    const done = await keeper.post("/clusters/silence", buttonsOf((await keeper.get("/")).html));
    expect(done.status).toBe(303);
    expect(changes).toHaveLength(1);
    const [{ matchers, ...silence }] = changes as [WantedSilence];
    expect(matchers.map(formatMatcher).sort()).toEqual(['location_id=~"l\\\\.a|l\\\\.b|l\\\\.c"']);
    expect(silence).toMatchObject({ endsAt: NOW + HOUR, createdBy: "dana" });
  });

  test("has no buttons for who may change nothing, and takes nothing from them", async () => {
    const { address, changes } = await stage({ alerts });
    const reader = await signedIn(address, "read-token", "rita");
    const { html } = await reader.get("/");
    expect(html).not.toContain("<button name=");
    expect((await reader.post("/clusters/ack", { cluster: "t:0-9", seen: "1", form: "x" })).status).toBe(403);
    expect(changes).toEqual([]);
  });
});

describe("a silence", () => {
  test.each([
    ["1h", NOW + HOUR],
    ["4h", NOW + 4 * HOUR],
    ["2026-02-01T08:00:00.000Z", Date.parse("2026-02-01T08:00:00Z")],
    ["custom", NOW + 36 * HOUR],
  ])("is set for %s by who signed in", async (lasting, endsAt) => {
    const { address, changes } = await stage();
    const keeper = await signedIn(address, "boss-token", "Dana <3");
    const response = await keeper.post("/silences/new", { ...wanted, lasting, custom: "1d12h" }, { from: form });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("../?show=silences");
    const [{ matchers, ...rest }] = changes as [WantedSilence];
    expect(matchers.map(formatMatcher)).toEqual(['alertname="RecordingOffline"', 'recording_id="till-3"']);
    expect(rest).toEqual({
      id: undefined,
      startsAt: undefined,
      endsAt,
      createdBy: "Dana <3",
      comment: "rewiring",
      annotations: {},
    });
  });

  test.each([
    [{ lasting: "1h", starts: "tomorrow 08:00" }, "2026-02-01T08:00Z", "2026-02-01T09:00Z"],
    [{ lasting: "dates", starts: "", ends: "22:00" }, undefined, "2026-01-31T22:00Z"],
    [
      { lasting: "dates", starts: "2026-07-01T09:30", ends: "2026-07-01T18:00" },
      "2026-07-01T08:30Z",
      "2026-07-01T17:00Z",
    ],
  ])("%j is from and to, in the zone of its location", async (fields, starts, ends) => {
    const { address, changes } = await stage();
    const keeper = await signedIn(address, "boss-token");
    const response = await keeper.post(
      "/silences/new",
      { ...wanted, matchers: 'location_id="leeds"', ...fields },
      { from: form },
    );
    expect(response.status).toBe(303);
    const [{ startsAt, endsAt }] = changes as [WantedSilence];
    expect([startsAt, endsAt]).toEqual([starts && Date.parse(starts), Date.parse(ends)]);
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
    [{ lasting: "4h" }, "Silence 1 alert for 4 h"],
    [{ custom: "2d12h" }, "Silence 1 alert for 2 d 12 h"],
    [{ custom: "2h", starts: "22:00" }, "Silence 1 alert from 22:00 UTC for 2 h"],
    [{ ends: "tomorrow 09:00", custom: "2h" }, "Silence 1 alert until Sun 1 Feb 09:00 UTC"],
    [{ matchers: 'location_id=~"leeds|york"' }, "Silence 2 alerts for 1 h"],
    [{ matchers: 'alertname="New"' }, "Silence later alerts for 1 h"],
  ])("of %j has one button, which says %s and sets that", async (chosen, words) => {
    const { address, changes } = await stage();
    const keeper = await signedIn(address, "boss-token");
    const { html } = await keeper.get(`/silences/new?${new URLSearchParams({ ...wanted, ...chosen })}`);
    const [, own = ""] = /<form [^>]*method="post" action="..\/silences\/new">(.*?)<\/form>/s.exec(html) ?? [];
    expect(own.match(/<button[^>]*>[^<]*/g)).toEqual([`<button class="main">${words}`]);
    expect(own).not.toMatch(/type="(?:text|submit)"|<input(?![^>]*type="hidden")/);
    expect(changes).toEqual([]);
    const hidden = [...own.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const fields = Object.fromEntries(hidden.map(([, name, value = ""]) => [name, value.replaceAll("&quot;", '"')]));
    expect((await keeper.post("/silences/new", { ...fields, comment: "why" })).status).toBe(303);
    expect(changes).toHaveLength(1);
  });

  test.each([{ custom: "soon" }, { ends: "yesterday" }, { starts: "never" }])("of %j has none", async (chosen) => {
    const { address } = await stage();
    const page = await visitAs(address, `/silences/new?${new URLSearchParams({ ...wanted, ...chosen })}`);
    expect(page.status).toBe(400);
    expect(page.html).not.toContain('class="main"');
    expect(shownText(page.html).join("\n")).toMatch(/(?:For how long|Until|From): expected/);
  });

  test.each([
    [{ lasting: "forever" }, "lasting: expected how long it lasts."],
    [{}, "lasting: expected how long it lasts."],
    [{ lasting: "2026-01-31T11:59:00.000Z" }, "lasting: that time has passed, choose another."],
    [
      { lasting: "custom", custom: "soon" },
      "For how long: expected a duration such as 30m, 2h or 1d12h, of a year at most.",
    ],
    [
      { lasting: "custom", custom: "0s" },
      "For how long: expected a duration such as 30m, 2h or 1d12h, of a year at most.",
    ],
    [
      { lasting: "custom", custom: "2y" },
      "For how long: expected a duration such as 30m, 2h or 1d12h, of a year at most.",
    ],
    [{ lasting: "1h", matchers: "" }, "Matchers: at least one matcher is needed."],
    [
      { lasting: "1h", matchers: 'a=~".*"' },
      "Matchers: at least one matcher must not match the empty string: this silence would match everything.",
    ],
    [{ lasting: "1h", matchers: "a={" }, "Matchers: column 3: expected"],
    [{ lasting: "1h", comment: "x".repeat(1_001) }, "Reason: expected at most 1000 characters."],
    [{ lasting: "1h", comment: " \u200b" }, "Reason: expected the reason, or a ticket."],
  ])("is refused with %j, and nothing is changed", async (fields, message) => {
    const { address, changes } = await stage();
    const keeper = await signedIn(address, "boss-token");
    const response = await keeper.post("/silences/new", { ...wanted, ...fields }, { from: form });
    expect(response.status).toBe(400);
    expect(shownText(await response.text()).join("\n")).toContain(message);
    expect(changes).toEqual([]);
  });

  test("that cannot be had says why", async () => {
    const { address } = await stage({ setSilence: async () => ({ outcome: "refused", why: "there are too many" }) });
    const keeper = await signedIn(address, "boss-token");
    const response = await keeper.post("/silences/new", { ...wanted, lasting: "1h" }, { from: form });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The silence was refused: there are too many.");
  });
});

describe("GET /?show=silences", () => {
  const silence = (id: string, from: number, to: number): Silence =>
    aSilence({
      id,
      matchers: [createMatcher("location_id", "=", "leeds")],
      startsAt: NOW + from * HOUR,
      endsAt: NOW + to * HOUR,
      updatedAt: NOW - 2 * HOUR,
      comment: `why ${id}`,
    });
  const silences = async () => [silence("over", -3, -1), silence("later", 1, 2), silence("now", -1, 1)];
  const alerts = async () => [{ alert: dark, receivers: ["ops"], silencedBy: ["now"] }];

  test("lists what holds first, what will, and what is over, with who, until when and why", async () => {
    const { address } = await stage({ silences, alerts });
    const { html } = await visitAs(address, "/?show=silences");
    const shown = shownText(html);
    expect(elementOf(html, "h1")).toBe("1 active silence");
    expect(shown.filter((line) => /^(?:Active|Pending|Expired)/.test(line))).toEqual([
      "Active until 13:00 GMT (1 h left) · suppresses 1 alert",
      "Pending from 13:00 GMT until 14:00 GMT",
      "Expired since 11:00 GMT",
    ]);
    expect(shown).toContain("why now");
    expect(shown).toContain("by dana, set 10:00 GMT");
    expect(html.match(/>Expire</g)).toHaveLength(2);
  });

  test("ends one at a button, for who may", async () => {
    const { address, changes } = await stage({ silences, readToken: undefined });
    expect((await visit(address).get("/?show=silences")).html).not.toContain(">Expire<");
    const keeper = await signedIn(address, "boss-token");
    const response = await keeper.post("/silences/now/end", {}, { from: "/?show=silences" });
    expect([response.status, response.headers.get("location")]).toEqual([303, "../../?show=silences"]);
    expect(changes).toEqual(["now"]);
  });

  test("offers of each a later end, and lets it last that long however often that is pressed", async () => {
    const long = async () => [silence("now", -1, 1), silence("long", -1, 40), silence("year", -1, 365 * 24)];
    const { address, changes } = await stage({ silences: long });
    const keeper = await signedIn(address, "boss-token");
    const { html } = await keeper.get("/?show=silences");
    const offered = [...html.matchAll(/silences\/(\w+)\/extend" name="until" value="([^"]+)"[^>]*>([^<]+)</g)];
    expect(offered.map(([, id, until = "", words]) => [id, (Date.parse(until) - NOW) / HOUR, words])).toEqual([
      ["now", 2, "+1 h"],
      ["now", 20, "until Sun 1 Feb 08:00 GMT"],
      ["long", 41, "+1 h"],
    ]);
    const [, , until = ""] = offered[0] ?? [];
    const response = await keeper.post("/silences/now/extend", { until }, { from: "/?show=silences" });
    expect([response.status, response.headers.get("location")]).toEqual([303, "../../?show=silences"]);
    expect(changes).toEqual([["now", NOW + 2 * HOUR]]);
  });

  test.each([
    ["", 400],
    ["tomorrow", 400],
    [new Date(NOW + 366 * 24 * HOUR).toISOString(), 400],
  ])("does not let one last until %j", async (until, status) => {
    const { address, changes } = await stage({ silences });
    const keeper = await signedIn(address, "boss-token");
    const response = await keeper.post("/silences/now/extend", { until }, { from: "/?show=silences" });
    expect(response.status).toBe(status);
    expect(changes).toEqual([]);
  });

  test("lets none last longer that is over meanwhile", async () => {
    const { address } = await stage({ silences, extendSilence: async () => false });
    const keeper = await signedIn(address, "boss-token");
    const until = new Date(NOW + 2 * HOUR).toISOString();
    const response = await keeper.post("/silences/now/extend", { until }, { from: "/?show=silences" });
    expect(response.status).toBe(404);
  });

  test("says that one is not there any more", async () => {
    const { address } = await stage({ silences, endSilence: async () => false });
    const keeper = await signedIn(address, "boss-token");
    const response = await keeper.post("/silences/gone/end", {}, { from: "/?show=silences" });
    expect(response.status).toBe(404);
  });
});

describe("an acknowledgement", () => {
  test.each([
    [`/alerts/${print}`, `../../alerts/${print}`],
    ["/recordings/till-3", "../../recordings/till-3"],
  ])("is a button of %s, which leads back there", async (from, location) => {
    const fleetWithAlert = { ...smallFleet };
    const { address, changes } = await stage({ fleet: async () => fleetWithAlert, alerts: active(atTill3()) });
    const keeper = await signedIn(address, "boss-token");
    const { html } = await keeper.get(from);
    const back = /name="back" value="([^"]*)"/.exec(html)?.[1] ?? "";
    const response = await keeper.post(`/alerts/${print}/ack`, { form: formToken(html), back });
    expect([response.status, response.headers.get("location")]).toEqual([303, location]);
    expect(changes).toEqual([[print, { author: "dana", comment: "", forMs: undefined }]]);
  });

  test("has a reason and an end; it can be withdrawn, and noted by others", async () => {
    const memory = holdsInMemory({ now: () => NOW }, [dark]);
    const { address } = await stage(memory.deps);
    const keeper = await signedIn(address, "boss-token", "dana");
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

  test("is said with who and when, and asked for no more", async () => {
    const acknowledgement = { author: "sam", comment: "on my way", at: NOW - 5 * 60_000 };
    const alerts = async () => [{ alert: dark, receivers: ["ops"], acknowledgement }];
    const { address } = await stage({ alerts });
    const { html } = await visitAs(address, `/alerts/${print}`);
    expect(shownText(html)).toContain("Acknowledged by sam at 11:55 GMT: on my way");
    expect(html).not.toContain(">Acknowledge<");
    expect(shownText((await visitAs(address, "/")).html).join("\n")).toContain("· acknowledged by sam");
  });

  test("of an alert that is over says so", async () => {
    const { address, changes } = await stage();
    const keeper = await signedIn(address, "boss-token");
    const response = await keeper.post("/alerts/0011223344556677/ack", {
      form: formToken((await keeper.get(form)).html),
    });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("No firing alert has this fingerprint; it may have resolved.");
    expect(changes).toEqual([]);
  });

  /** The alert under the key that the recording's own state gives it. */
  function atTill3() {
    return { ...dark, key: "RecordingOffline/recording/till-3" };
  }
});

describe("what changes something", () => {
  const paths = ["/silences/new", "/silences/now/end", "/silences/now/extend", `/alerts/${print}/ack`];
  const fields = { ...wanted, lasting: "1h" };

  test.each(paths)("%s needs a session made from the admin token", async (path) => {
    const { address, changes } = await stage();
    const stranger = await visit(address).post(path, fields);
    expect(stranger.status).toBe(401);
    expect(await stranger.text()).toContain("Your session has ended: nothing was changed.");
    const reader = await signedIn(address, "read-token");
    const refused = await reader.post(path, fields);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("lacks the scope silence");
    expect(changes).toEqual([]);
  });

  test.each(paths)("%s needs a form made for the session", async (path) => {
    const { address, changes } = await stage();
    const keeper = await signedIn(address, "boss-token");
    const another = formToken((await (await signedIn(address, "boss-token")).get(form)).html);
    expect(another).not.toBe("");
    for (const token of [undefined, "", "x", another]) {
      const response = await keeper.post(path, { ...fields, ...(token === undefined ? {} : { form: token }) });
      expect(response.status).toBe(403);
      expect(await response.text()).toContain("The form is not of your session");
    }
    expect(changes).toEqual([]);
  });

  test.each(paths)("%s takes nothing from another site", async (path) => {
    const { address, changes } = await stage();
    const keeper = await signedIn(address, "boss-token");
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
      { origin: "null" },
    ]) {
      const response = await keeper.post(path, fields, { from: form, headers: headers as Record<string, string> });
      expect(response.status).toBe(403);
    }
    expect(changes).toEqual([]);
  });

  test.each(paths)("%s says that nothing can be changed where no admin token is configured", async (path) => {
    const { address, changes } = await stage({ adminToken: undefined });
    const response = await visit(address).post(path, fields);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("no http.admin_token is configured");
    expect(changes).toEqual([]);
  });

  test.each(paths)("%s takes no JSON, and no bearer token instead of a form", async (path) => {
    const { address, changes } = await stage();
    const { cookie } = await signedIn(address, "boss-token");
    for (const headers of [{ cookie }, { authorization: "Bearer boss-token" }]) {
      const response = await fetch(address + path, {
        method: "POST",
        headers: { ...(headers as Record<string, string>), "content-type": "application/json" },
        body: JSON.stringify(fields),
      });
      expect([401, 403]).toContain(response.status);
    }
    expect(changes).toEqual([]);
  });
});
