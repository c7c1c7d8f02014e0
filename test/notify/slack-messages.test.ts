/** A conversation at Slack: its root, which shows the present, the replies, which are the news, and the buttons. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { episodeOf } from "../../src/alerting/incident.ts";
import { matchesAll, parseMatchers } from "../../src/alerting/matcher.ts";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import type { ProblemKind } from "../../src/health/alert.ts";
import { timesSeenAt } from "../../src/lib/when.ts";
import { silenceLink } from "../../src/notify/link.ts";
import { silenceScopes } from "../../src/notify/silence-scope.ts";
import { makeBlockId, parseBlockId, slackIntegrationHash } from "../../src/notify/slack/action-id.ts";
import { extendButtons, silenceForm } from "../../src/notify/slack/actions.ts";
import { renderReply, renderRoot } from "../../src/notify/slack/conversation.ts";
import { anAlert } from "../support/fixtures.ts";
import { slackProblems } from "../support/harmless.ts";
import { limitsBroken, type SlackBody } from "../support/slack-sink.ts";
import { alertOf, endedOf, HOUR, MINUTE, NOW, notificationOf, otherAlert } from "./fixtures.ts";

const ID = "0123456789abcdef";
const conversation = { id: ID, openedAt: NOW - 11 * MINUTE, isOver: false };
const group = { id: "3f2a00c1d2e3f405", labels: {} };
const of = (changes: Partial<Notification>) => notificationOf({ conversation, group, ...changes });
const known = (name: string, suppressedBy?: NotifiedAlert["suppressedBy"], more: Partial<NotifiedAlert> = {}) =>
  alertOf(name, { isNew: false, suppressedBy, ...more });

const acknowledged = { reason: "acknowledged", by: "Ana", until: NOW + 43 * MINUTE, comment: "on *my* way" } as const;
const silenced = { reason: "silenced", by: "6f1e", author: "Ben", until: NOW + HOUR } as const;
const planned = { reason: "maintenance", by: "stock-take", until: NOW + HOUR, comment: "off" } as const;
const back = (suppressedBy: NotifiedAlert["suppressedBy"] = { reason: "clearing", by: "Entrance" }) =>
  known("Entrance", suppressedBy, {
    updatedAt: NOW - 2 * MINUTE,
    facts: { timezone: "Europe/London", problem: "offline", clearing: true },
  });
const offline = otherAlert("location", "l", { alertname: "LocationOffline", location: "Leeds Briggate" });
const inhibited = { reason: "inhibited", by: offline.id, source: offline } as const;
const more = { reason: "more", firing: [known("Till 3"), alertOf("Till 4")] } as const;

const ROOTS: Readonly<Record<string, Partial<Notification>>> = {
  "all that fires, and not what was new in a message": more,
  "the same of a reminder": { ...more, reason: "reminder" },
  "who handles it": {
    reason: "update",
    standing: [known("Till 3", acknowledged), known("Till 4", silenced), known("Till 5", planned)],
  },
  "all acknowledged": { reason: "update", standing: [known("Till 3", acknowledged)] },
  "all in maintenance": { reason: "update", standing: [known("Till 5", planned)] },
  "acknowledged and silenced": { standing: [known("Till 3", { ...silenced, acknowledged })] },
  "one that is back": { ...more, firing: [alertOf("Tills")], standing: [back()] },
  "one that is back and acknowledged": { ...more, firing: [alertOf("Tills")], standing: [back(acknowledged)] },
  "only one that is back": { reason: "update", standing: [back()] },
  "one that is inhibited": { ...more, firing: [alertOf("Entrance")], standing: [known("Till 3", inhibited)] },
  "what recovered meanwhile": { reason: "resolved", firing: [alertOf("A")], resolved: [endedOf("B")] },
  "a summary": { firing: [alertOf("A"), alertOf("B")], groups: 12 },
};
/** All is over; `before`: what had ended already. */
const over = (
  { groups, resolved = [], ...changes }: Partial<Notification>,
  before: NotifiedAlert[] = [],
  unknown = 0,
) => {
  const whole = { ended: [...before, ...resolved].map(episodeOf), unknown };
  return of({
    reason: "resolved",
    resolved,
    ...changes,
    conversation: { ...conversation, groups, isOver: true, whole },
  });
};
let episodes = 0;
const ended = (name: string, changes: Partial<NotifiedAlert> = {}) => {
  const one = endedOf(name, changes);
  return { ...one, id: `${one.key}@${++episodes}` };
};
const siteEnded = (i: number, changes: Partial<NotifiedAlert> = {}) => {
  const labels = { alertname: "LocationOffline", location_id: `l${i}`, location: `Site ${i}` };
  const key = `LocationOffline/location/l${i}`;
  const facts = { timezone: "Europe/London", problem: "location_offline", offline: 0, of: 8, most: 8 } as const;
  return ended(`Site ${i}`, { key, subject: { kind: "location", id: `l${i}` }, labels, facts, ...changes });
};
const tillAt = (i: number) => {
  const labels = { location_id: `l${i % 12}`, location: `Site ${i % 12}` } as never;
  return ended(`Till ${i}`, { labels, startsAt: NOW - HOUR, endsAt: NOW - (40 - i) * MINUTE });
};
const tills = Array.from({ length: 24 }, (_, i) => tillAt(i));
const whole = Array.from({ length: 30 }, (_, i) => siteEnded(i));
const gone = { endReason: "no_longer_watched" } as const;
const quality = { timezone: "Europe/London", problem: "low_quality" } as const;
const flapping = { timezone: "Europe/London", problem: "flapping", status: "offline" } as const;
const later = ended("Till 3");
const ENDS: Readonly<Record<string, Parameters<typeof over>>> = {
  "the end of one": [{ resolved: [later] }],
  "the end of two at once": [{ resolved: [later, ended("Till 4")] }],
  "the last of two": [{ resolved: [later] }, [ended("Till 4", { endsAt: NOW - 9 * MINUTE })]],
  "the last of three locations": [{ resolved: [later] }, tills.slice(0, 2)],
  "the third time": [{ resolved: [later] }, [ended("Till 3"), ended("Till 3")]],
  "the end of a summary": [{ groups: 12, resolved: tills.slice(23) }, tills.slice(0, 23)],
  "the end of a summary at once": [{ groups: 2, resolved: tills.slice(0, 2) }],
  "the end of whole locations, and recordings of them": [{ groups: 30, resolved: [later] }, [...whole, ...tills]],
  "the end without a message": [{ groups: 12, reason: "update", resolved: [] }, tills],
  "the end of what is not known any more": [{ groups: 12, resolved: [later] }, [], 24],
  "the end of some of which nothing is known": [{ resolved: [later] }, tills, 2],
  "the end of what nobody looks at any more": [{ resolved: [later] }, [ended("Till 4", gone)]],
  "the end of nothing that recovered": [{ resolved: [ended("Till 3", gone)] }, [ended("Till 4", gone)]],
  "one that recovered after all": [{ resolved: [ended("Till 4")] }, [ended("Till 4", gone), later]],
  "a location that recovered in part": [
    { resolved: [siteEnded(1)] },
    [siteEnded(2, { facts: { timezone: "Europe/London", problem: "location_offline", offline: 2, of: 8, most: 8 } })],
  ],
  "the end of several problems": [
    { resolved: [ended("Till 4", { key: "LowQuality/recording/4", facts: quality })] },
    [ended("Till 5", { key: "Flaps/recording/5", facts: flapping }), ...tills.slice(0, 3)],
  ],
};
const REPLIES: Readonly<Record<string, Partial<Notification>>> = {
  "a new one": more,
  "a reminder": { reason: "reminder", firing: [known("A"), known("B")] },
  "an end": {
    reason: "resolved",
    resolved: [endedOf("B")],
    firing: [known("A")],
    standing: [known("C", acknowledged)],
  },
  "an end while many fire": {
    reason: "resolved",
    resolved: [endedOf("B")],
    firing: ["A", "C", "D", "<!channel>"].map((name) => known(name)),
  },
  "a name like a mention": { reason: "resolved", resolved: [endedOf("B")], firing: [known("<!channel>")] },
};

function linesOf(body: unknown): string[] {
  const { blocks = [], attachments = [] } = body as SlackBody;
  const all = [...blocks, ...attachments.flatMap((one) => one.blocks ?? [])];
  expect(limitsBroken(body as SlackBody)).toEqual([]);
  return all.flatMap(({ text }) => text?.text.split("\n") ?? []).filter((line) => !/^<https.*>$/.test(line));
}

it("reads as in renders/slack-conversations.txt", async () => {
  const written = (what: string, all: object, render: (one: never) => unknown) =>
    Object.entries(all).map(([name, one]) => `=== ${what}: ${name}\n${linesOf(render(one as never)).join("\n")}\n`);
  const texts = [
    ...written("root", ROOTS, (changes: Partial<Notification>) => renderRoot(of(changes))),
    ...written("root", ENDS, (all: Parameters<typeof over>) => renderRoot(over(...all))),
    ...written("reply", REPLIES, (changes: Partial<Notification>) => renderReply(of(changes), { mention: "<!here>" })),
  ];
  await expect(texts.join("\n").replaceAll("\u200b", "")).toMatchFileSnapshot("renders/slack-conversations.txt");
});

it.each([undefined, 12])("what is over without having recovered is not green (groups: %s)", (groups) => {
  for (const endReason of ["rule_removed", "no_longer_watched", "expired", "rule_changed"] as const) {
    const resolved = [endedOf("Entrance", { endReason }), endedOf("Tills", { endReason })];
    for (const before of [[], tills])
      expect(linesOf(renderRoot(over({ groups, resolved }, before)))[0]).toMatch(/^\*⚪/);
  }
  expect(renderRoot(over({ groups, resolved: [] })).text).toMatch(/^⚪ All over/);
  expect(renderRoot(over({ groups, resolved: [endedOf("A")] })).attachments?.[0]?.color).toBe("#2e9e5b");
});

it("counts each recording once, and is green where all is known to work again", () => {
  const outage = fc.record({
    place: fc.nat(2),
    recording: fc.option(fc.nat(2), { nil: undefined }),
    most: fc.integer({ min: 1, max: 3 }),
    end: fc.constantFrom("recovered", "recovered", "recovered", "partly", "no_longer_watched"),
  });
  const episodesOf = fc.array(outage, { minLength: 1, maxLength: 8, size: "max" });
  const isBack = ({ end, recording }: { end: string; recording: number | undefined }) =>
    end === "recovered" || (end === "partly" && recording !== undefined);
  fc.assert(
    fc.property(episodesOf, fc.constantFrom(0, 0, 1), (outages, unknown) => {
      const all = outages.map(({ place, recording, most, end }) => {
        const endReason = end === "no_longer_watched" ? end : "recovered";
        const offline = end === "partly" ? 1 : 0;
        if (recording !== undefined)
          return ended(`${place}.${recording}`, { endReason, labels: { location_id: `l${place}` } as never });
        const facts = { timezone: "Europe/London", problem: "location_offline", offline, most } as const;
        return siteEnded(place, { endReason, facts });
      });
      const title = linesOf(renderRoot(over({ groups: 12, resolved: all.slice(-1) }, all.slice(0, -1), unknown)))[0];
      const lastOf = new Map(outages.map((one) => [`${one.place} ${one.recording}`, one]));
      expect(title?.includes("✅"), title).toBe(unknown === 0 && [...lastOf.values()].every(isBack));
      const recordings = [0, 1, 2].map((place) => {
        const here = outages.filter((one) => one.place === place);
        const whole = here.filter(({ recording }) => recording === undefined).map(({ most }) => most);
        return whole.length > 0 ? Math.max(...whole) : new Set(here.map(({ recording }) => recording)).size;
      });
      const [sum, places] = [recordings.reduce((a, b) => a + b), recordings.filter(Boolean).length];
      if (lastOf.size > 1 || unknown > 0) expect(title).toContain(`${sum} recording${sum === 1 ? "" : "s"} at `);
      if (places > 1) expect(title).toContain(` at ${places} locations were offline, `);
    }),
    { seed: 7, numRuns: 500 },
  );
});

describe("the buttons of a root", () => {
  interface Element {
    readonly action_id: string;
    readonly url?: string;
  }
  const buttonsOf = (changes: Partial<Notification>, actions = true) => {
    const row = (renderRoot(of(changes), { actions }) as SlackBody).blocks?.find(({ type }) => type === "actions");
    return { id: row?.block_id, elements: (row?.elements ?? []) as unknown as Element[] };
  };
  const actionsIn = (changes: Partial<Notification>, actions?: boolean) =>
    buttonsOf(changes, actions).elements.map(({ action_id }) => action_id);

  test("name its integration, group and conversation, and take the place of links", () => {
    const runbook = { annotations: { runbook_url: "https://wiki.example.com/a" } };
    const firing = [alertOf("Till 3", runbook)];
    const { id = "", elements } = buttonsOf({ firing });
    const integration = slackIntegrationHash("ops/slack/0");
    expect(parseBlockId(id)).toEqual({ integration, group: group.id, conversation: ID, seen: NOW });
    expect(parseBlockId(buttonsOf({ firing, groups: 40 }).id ?? "")?.group).toBe("storm");
    expect(actionsIn({ firing })).toEqual(["acknowledge", "silence", "why", "runbook", "open"]);
    expect(elements.flatMap(({ url }) => url ?? [])).toEqual([
      "https://wiki.example.com/a",
      "https://lenswatch.example.com/recordings/54696c6c2033000000000000",
    ]);
    const root = JSON.stringify(renderRoot(of({ firing }), { actions: true }));
    expect(root).not.toMatch(/\|(Acknowledge|Status|Runbook|Open status page)>/);
  });

  test("are none where all is over or without actions, and none to acknowledge what is acknowledged", () => {
    expect(actionsIn({ standing: [known("A", acknowledged)] })).toEqual(["silence", "why", "open"]);
    expect(actionsIn({ standing: [known("A", { ...silenced, acknowledged })] })).toEqual(["silence", "why", "open"]);
    expect(actionsIn({ standing: [known("A", silenced)] })).toContain("acknowledge");
    expect(actionsIn({ firing: [alertOf("A")] }, false)).toEqual([]);
    expect(JSON.stringify(renderRoot(over({ resolved: [endedOf("A")] }), { actions: true }))).not.toContain("actions");
  });

  test("have an id for each edit, not earlier than an alert that it shows, and none that Slack would refuse", () => {
    const ids = [1, 2].map((now) => makeBlockId("ops/slack/0", "g", ID, now));
    expect(new Set(ids).size).toBe(2);
    expect(parseBlockId(makeBlockId("ops/slack/0", "g", ID, 1_790_000_000_000.4) ?? "")?.seen).toBe(1_790_000_000_001);
    expect(makeBlockId("ops/slack/0", "g".repeat(250), ID, 0)).toBeUndefined();
  });

  test.each([
    "",
    "lw:0123456789ab:storm",
    `lw:0123456789ab:a:b:${ID}`,
    `xx:0123456789ab:storm:${ID}`,
    `lw:0123456789ab:storm:${ID}0`,
    `lw:0123456789ab:<!channel>:${ID}`,
    `lw:0123456789ab:storm:${ID}`,
    `lw:0123456789ab:${"a".repeat(250)}:${ID}:1`,
  ])("have ids of which %j is none", (text) => {
    expect(parseBlockId(text)).toBeUndefined();
  });
});

describe("what a button silences", () => {
  const at = (id: string, location = `Site ${id}`) => ({ location_id: id, location });
  const external = (own: Record<string, string>): NotifiedAlert => ({
    ...anAlert({ subject: { kind: "external", id: "f" }, labels: { alertname: "DiskFull", ...own } }),
    ...{ fingerprint: ID, isNew: true },
  });
  const problem = (kind: ProblemKind) => ({ facts: { timezone: "Europe/London", problem: kind } });
  const server = (name: string) =>
    otherAlert("group", `camera_server/${name}`, { alertname: "CameraServerOffline", camera_server: name });
  const atYork = (alertname: string, kind: ProblemKind) =>
    otherAlert("location", "1", { alertname, ...at("1", "York") }, problem(kind));
  const ofGroup = (id: string, alertname: string, kind: ProblemKind) =>
    otherAlert("group", id, { alertname, [id.split("/")[0] ?? ""]: id.split("/").slice(1).join("/") }, problem(kind));
  const failing = { alertname: "NotificationsFailing", receiver: "ops", integration: "slack" };
  const integration = otherAlert("integration", "ops/slack/0", failing, { facts: { timezone: "UTC" } });
  const service = otherAlert("service", "a", { alertname: "ServiceUnreachable" }, { facts: { timezone: "UTC" } });
  const LEEDS = "All of Leeds Briggate";

  test.each<[NotifiedAlert[], labels: string[], name?: string]>([
    [[alertOf("Till 3")], ["This camera (offline)", LEEDS], "Till 3 · Leeds Briggate (offline)"],
    [
      [alertOf("Till 3", { ...problem("offline"), labels: { alertname: "TillOut" } })],
      ["This camera (TillOut)", LEEDS],
      "Till 3 · Leeds Briggate (TillOut)",
    ],
    [[atYork("LocationOffline", "location_offline")], ["All of York"]],
    [[atYork("CountsImplausible", "counts_low")], ["York (counts too low)", "All of York"]],
    [[server("edge-7")], ["All of camera server edge-7"]],
    [[ofGroup("organisation/acme", "OrganisationOffline", "organisation_offline")], ["All of organisation acme"]],
    [
      [ofGroup("timezone/Europe/London", "CountsDroppedTogether", "counts_together")],
      ["Time zone Europe/London (counts dropped together)"],
    ],
    [[service], ["Service unreachable"]],
    [[integration], ["Slack (ops) (notifications failing)"]],
    [[external({ instance: "nas" })], ["DiskFull: nas"]],
    [
      [server("edge-7"), server("edge-8")],
      ["These 2 alerts"],
      "2 camera servers offline: Camera server edge-7, Camera server edge-8",
    ],
    [
      ["A", "B"].map((name) => alertOf(name)),
      ["These 2 alerts", LEEDS],
      "2 recordings offline: A · Leeds Briggate, B · Leeds Briggate",
    ],
    [
      ["1", "2", "3", "4", "5"].map((id) => alertOf(`C${id}`, { labels: at(id) })),
      ["These 5 alerts", "All of these 5 locations"],
      "5 recordings offline: C1 · Site 1, C2 · Site 2, C3 · Site 3 and 2 more",
    ],
    [
      [alertOf("A"), server("edge-7")],
      ["These 2 alerts"],
      "1 recording offline, 1 camera server offline: A · Leeds Briggate, Camera server edge-7",
    ],
  ])("is named, and is what the links of its alerts prepare (%#: $1)", (alerts, labels, name = labels[0]) => {
    const scopes = silenceScopes(alerts);
    expect(scopes.map(({ label }) => label)).toEqual(labels);
    expect(scopes[0]?.name).toBe(name);
    const silences = (scopes[0]?.silences ?? []).map((text) => parseMatchers(text));
    for (const { labels } of alerts) expect(silences.some((matchers) => matchesAll(matchers, labels))).toBe(true);
    const [only, ...others] = alerts;
    const url = only && others.length === 0 ? silenceLink("https://lw.test", only)?.url : undefined;
    if (url) expect([new URL(url).searchParams.get("matchers")]).toEqual(scopes[0]?.silences);
  });

  test("is nothing where that would take too many silences", () => {
    expect(silenceScopes(Array.from({ length: 30 }, (_, i) => external({ [`label_${i}`]: "x" })))).toEqual([]);
  });

  // docs.slack.dev, Block Kit: button, input.
  test.each([
    "x".repeat(300),
    "🎥".repeat(300),
    "שלום ".repeat(80),
    "<!channel> *x* :fire: \u202e",
    "\n\u0000",
    "a".repeat(30),
  ])("is a form within Slack's limits, of plain text, for the name %j", (name) => {
    const labels = { location: name, recording: name, camera_server: name, alertname: name };
    const all = [
      [alertOf(name, { labels })],
      [otherAlert("location", "1", { ...labels, location_id: "1" })],
      [otherAlert("group", `camera_server/${name}`, labels, problem("camera_server_offline"))],
      [external(labels)],
      Array.from({ length: 2_000 }, (_, i) => alertOf(`${i}`, { labels: { ...labels, location_id: `${i}` } })),
    ];
    for (const { inputs, buttons } of all.map((alerts) => silenceForm(silenceScopes(alerts), "Europe/London"))) {
      expect(buttons.length).toBeGreaterThan(0);
      expect(limitsBroken({ blocks: [...inputs, { type: "actions", elements: buttons }] })).toEqual([]);
      for (const { text } of buttons) {
        expect(text).toMatchObject({ type: "plain_text", emoji: false });
        expect(text.text).toMatch(/^(?!.*(?:\p{Cc}|\u202e|\p{Surrogate}))Silence: ./u);
      }
    }
  });

  test("is extended by an hour, and until the next morning where that is later", () => {
    const now = Date.parse("2026-03-02T05:30Z");
    const at = (until: number) =>
      extendButtons(["a", "b"], { until, now, times: timesSeenAt(now), shop: "America/New_York" }).map((one) => [
        one.text.text,
        one.value?.split(" ").map((part) => (part.length > 1 ? Number.parseInt(part, 36) - until : part)),
      ]);
    expect(at(now + HOUR)).toEqual([
      ["+1 h", [HOUR, "a", "b"]],
      ["until 08:00 EST", [6.5 * HOUR, "a", "b"]],
    ]);
    expect(at(now + 8 * HOUR).map(([text]) => text)).toEqual(["+1 h"]);
  });
});

test("hostile words of people and of the service stay text, within the limits", () => {
  const nasty = "<!channel> *b* _i_ `c` <https://evil.example|x> \u202e & ".repeat(60);
  const labels = { recording: nasty, location: nasty, severity: nasty };
  const firing = Array.from({ length: 60 }, (_, i) => alertOf(`${i}`, { labels, annotations: { runbook_url: nasty } }));
  const suppressedBy = { reason: "acknowledged", by: nasty, comment: nasty } as const;
  for (const many of [1, 5, 60]) {
    const some = firing.slice(0, many);
    const changes = { firing: some, standing: some.map((alert) => ({ ...alert, suppressedBy })) };
    for (const body of [renderRoot(of(changes), { actions: true }), renderReply(of({ reason: "more", ...changes }))])
      expect(slackProblems(body as SlackBody)).toEqual([]);
  }
});
