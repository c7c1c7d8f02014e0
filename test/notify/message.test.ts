import { describe, expect, it } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import type { EndReason } from "../../src/health/alert.ts";
import { messageOf } from "../../src/notify/message.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { alertOf, endedOf, HOUR, MINUTE, NOW, notificationOf, otherAlert } from "./fixtures.ts";

const LABELS = (labels: Record<string, string>) => ({ labels: labels as NotifiedAlert["labels"] });
const LOW_QUALITY = LABELS({ alertname: "LowQuality", severity: "warning" });
const YORK = LABELS({ location: "York", location_id: "york" });

const PLACE = { location: "Leeds Briggate", location_id: "leeds" };

const told = { isNew: false };
const over = (alert: NotifiedAlert, endReason: EndReason = "recovered", isNew = false): NotifiedAlert => ({
  ...alert,
  state: "resolved",
  endsAt: NOW - 3 * MINUTE,
  endReason,
  isNew,
});
const location = (facts: Partial<NotifiedAlert["facts"]>): NotifiedAlert =>
  otherAlert(
    "location",
    "leeds",
    { alertname: "LocationOffline", location: "Leeds Briggate", location_id: "leeds" },
    { facts: { timezone: "Europe/London", ...facts } },
  );
const service = otherAlert("service", "service", { alertname: "ServiceUnreachable" });
const partly = otherAlert("service", "service", { alertname: "ServicePartlyUnreachable", severity: "warning" });
const failing = otherAlert(
  "integration",
  "ops/slack/0",
  { alertname: "NotificationsFailing", receiver: "ops", integration: "slack" },
  { facts: { timezone: "UTC", detail: "Slack refused the webhook (403 invalid_token)." } },
);

function message(changes: Partial<Notification>) {
  return messageOf(notificationOf(changes), 50);
}

function facts(changes: Partial<Notification>): string[] {
  return message(changes).sections.flatMap(({ entries }) =>
    entries.map(({ name, facts }) => [name, facts].filter((part) => part !== "").join(": ")),
  );
}

describe("a title", () => {
  const tills = [alertOf("Till 3"), alertOf("Till 4")];
  const back = [endedOf("Till 3"), endedOf("Till 4")];
  it.each<[string, Partial<Notification>]>([
    ["🔴 2 recordings offline · Leeds Briggate", { firing: tills }],
    ["🔴 Till 3 offline · Leeds Briggate", { firing: [alertOf("Till 3")] }],
    ["🔴 2 recordings offline, 1 quality low · Leeds Briggate", { firing: [alertOf("Door", LOW_QUALITY), ...tills] }],
    ["🟠 Door quality low · Leeds Briggate", { firing: [alertOf("Door", LOW_QUALITY)] }],
    ["🔴 2 recordings offline · Leeds Briggate, York", { firing: [alertOf("Till 3"), alertOf("Till 4", YORK)] }],
    [
      "🔴 2 recordings offline · Leeds Briggate — 1 new",
      { reason: "more", firing: [alertOf("A", told), alertOf("B")] },
    ],
    [
      "🔴 A still offline · Leeds Briggate — 2 recovered",
      { reason: "resolved", firing: [alertOf("A", told)], resolved: back },
    ],
    ["✅ 2 recordings recovered · Leeds Briggate — after 9 m", { reason: "resolved", resolved: back }],
    ["✅ Till 3 recovered · Leeds Briggate — after 9 m", { resolved: [endedOf("Till 3")] }],
    [
      "✅ 2 recordings recovered · Leeds Briggate — after up to 1 h 57 m",
      { resolved: [endedOf("A"), endedOf("B", { startsAt: NOW - 2 * HOUR })] },
    ],
    [
      "⚪ A no longer watched · Leeds Briggate — offline when last read",
      { resolved: [endedOf("A", { endReason: "no_longer_watched" })] },
    ],
    [
      "⚪ A: rule removed · Leeds Briggate — offline when last read",
      { resolved: [endedOf("A", { endReason: "rule_removed" })] },
    ],
    [
      "⚪ A: expired, current state not known · Leeds Briggate — offline when last read",
      { resolved: [endedOf("A", { endReason: "expired" })] },
    ],
    [
      "⚪ Resolved: 1 recovered, 1 expired · Leeds Briggate",
      { resolved: [endedOf("A"), endedOf("B", { endReason: "expired" })] },
    ],
    [
      "✅ A was offline · Leeds Briggate — recovered after 9 m",
      { reason: "resolved", resolved: [endedOf("A", { isNew: true })] },
    ],
    [
      "⚪ 2 recordings no longer watched · Leeds Briggate — offline when last read",
      { resolved: ["A", "B"].map((name) => endedOf(name, { isNew: true, endReason: "no_longer_watched" })) },
    ],
    [
      "🔴 Reminder: A still offline · Leeds Briggate — for 4 h",
      { reason: "reminder", firing: [alertOf("A", { ...told, startsAt: NOW - 4 * HOUR })] },
    ],
    ["🔴 Leeds Briggate: all 4 recordings offline", { firing: [location({ offline: 4, of: 4 })] }],
    [
      "🔴 Leeds Briggate: 7 of 8 recordings offline; 1 outside its schedule",
      { firing: [location({ offline: 7, of: 7, outside: 1 })] },
    ],
    [
      "🔴 Leeds Briggate: all 2 recordings offline, 1 recording with low quality",
      {
        firing: [
          location({ offline: 2, of: 2 }),
          ...["A", "B"].map((name) => alertOf(name, LABELS({ ...PLACE, alertname: "RecordingOffline" }))),
          alertOf("Door", LABELS({ ...PLACE, alertname: "LowQuality" })),
        ],
      },
    ],
    [
      "🔴 Entrance offline · Leeds Briggate",
      {
        firing: [
          alertOf("x", LABELS({ ...PLACE, alertname: "RecordingOffline", recording: "Leeds Briggate Entrance" })),
        ],
      },
    ],
    ["🔴 Leeds Briggate: 7 of 8 recordings offline", { firing: [location({ offline: 7, of: 8 })] }],
    [
      "🔴 Leeds Briggate: recovering — 2 recovered",
      { reason: "resolved", firing: [{ ...location({ offline: 0, of: 4 }), ...told }], resolved: back },
    ],
    [
      "⚪ Leeds Briggate partly recovered — after 9 m, 1 recording still offline",
      { resolved: [over(location({ offline: 1, of: 4 }))] },
    ],
    [
      "⚪ 2 of 8 recordings recovered · Leeds Briggate — 6 still offline",
      { resolved: [{ ...over(location({ offline: 6, of: 8 })), change: { recovered: 2, of: 8 } }] },
    ],
    [
      "🔴 2 recordings still offline · Leeds Briggate — 1 of 3 recovered",
      {
        reason: "more",
        firing: tills.map((till) => ({ ...till, ...told, isCovered: true as const })),
        resolved: [
          { ...over(location({ offline: 2, of: 3 })), change: { recovered: 1, of: 3 } },
          endedOf("Door", { isCovered: true }),
        ],
      },
    ],
    [
      "🔴 2 recordings offline · Leeds Briggate — 1 new, 2 of 8 recovered, 7 still offline",
      {
        reason: "more",
        firing: [alertOf("Till 3"), alertOf("Till 4", { ...told, isCovered: true })],
        resolved: [{ ...over(location({ offline: 7, of: 8 })), change: { recovered: 2, of: 8 } }],
      },
    ],
    ["🔴 Analytics service unreachable", { firing: [service] }],
    [
      "🔴 Reminder: Analytics service still unreachable — for 12 m",
      { reason: "reminder", firing: [{ ...service, ...told }] },
    ],
    ["🟠 Analytics service partly unreachable", { firing: [partly] }],
    ["✅ Analytics service was unreachable — recovered after 9 m", { resolved: [over(service, "recovered", true)] }],
    ["🔴 Notifications failing: ops / slack", { firing: [failing] }],
    ["✅ Notifications to ops / slack recovered — after 9 m", { resolved: [over(failing)] }],
    ["🔴 A: camera down · Leeds Briggate", { firing: [alertOf("A", LABELS({ alertname: "CameraDown" }))] }],
    [
      "🔴 A offline · Leeds Briggate",
      {
        firing: [
          alertOf("A", {
            ...LABELS({ alertname: "CameraDown" }),
            facts: { timezone: "Europe/London", problem: "offline" },
          }),
        ],
      },
    ],
    ["🔵 Test message from lenswatch · ops", { reason: "test", firing: tills }],
  ])("reads: %s", (title, changes) => {
    expect(message(changes).title).toBe(title);
  });

  it("counts locations instead of naming many of them", () => {
    const firing = Array.from({ length: 30 }, (_, i) =>
      alertOf(`Camera ${i}`, LABELS({ location: `Shop ${i % 5}`, location_id: `${i % 5}` })),
    );
    expect(message({ firing }).title).toBe("🔴 30 recordings offline · 5 locations");
  });
});

describe("the line of an alert", () => {
  it.each<[string, Partial<Notification>]>([
    ["Since 14:05 GMT (12 m)", { firing: [alertOf("A")] }],
    [
      "Since 14:05 GMT (12 m) · quality 69.9 %",
      { firing: [alertOf("A", { ...LOW_QUALITY, facts: { timezone: "Europe/London", averageQuality: 0.69999 } })] },
    ],
    [
      "Since 14:05 GMT (12 m) · uptime 91.2 %",
      {
        firing: [
          alertOf("A", {
            ...LABELS({ alertname: "LowUptime" }),
            facts: { timezone: "Europe/London", overallUptime: 0.912 },
          }),
        ],
      },
    ],
    [
      "Since 14:05 GMT (12 m) · uptime 91.2 % (segments bad)",
      {
        firing: [
          alertOf("A", {
            ...LABELS({ alertname: "LowUptime" }),
            facts: { timezone: "Europe/London", overallUptime: 0.912, arrived: 1 },
          }),
        ],
      },
    ],
    [
      "Since 14:05 GMT (12 m) · 2.1 % of segments arrived",
      {
        firing: [
          alertOf("A", {
            facts: { timezone: "Europe/London", problem: "not_uploading", arrived: 0.021, averageQuality: 0.9 },
          }),
        ],
      },
    ],
    ["Was offline 14:05–14:14 GMT", { resolved: [endedOf("A")] }],
    ["Offline 14:05–14:14 GMT (9 m)", { resolved: [endedOf("A", { endReason: "no_longer_watched" })] }],
    ["Offline 14:05–14:14 GMT (9 m)", { resolved: [endedOf("A", { endReason: "rule_removed" })] }],
    ["Offline 14:05–14:14 GMT (9 m)", { resolved: [endedOf("A", { endReason: "expired" })] }],
    ["Was offline 14:05–14:14 GMT", { resolved: [endedOf("A", { isNew: true })] }],
    [
      "Was offline 14:05–14:14 GMT · 1 of 4 recordings still offline",
      { resolved: [over(location({ offline: 1, of: 4 }))] },
    ],
    [
      "Since 14:05 GMT (12 m)",
      {
        firing: [
          alertOf("5f00000000000000000000bb", { subject: { kind: "recording", id: "5f00000000000000000000bb" } }),
        ],
      },
    ],
  ])("reads %s", (line, changes) => {
    expect(facts(changes)).toEqual([line]);
  });

  it.each<[string, Partial<NotifiedAlert>]>([
    ["A: recovered, was offline 14:05–14:14 GMT (9 m)", {}],
    ["A: was offline 14:05–14:14 GMT (9 m), recovered since", { isNew: true }],
    ["A: recovered, was offline 14:14:20–14:14:50 GMT (30 s)", { startsAt: NOW - 160_000, endsAt: NOW - 130_000 }],
    ["A: no longer watched; offline when last read, 14:05–14:14 GMT (9 m)", { endReason: "no_longer_watched" }],
    ["A: rule removed; offline when last read, 14:05–14:14 GMT (9 m)", { endReason: "rule_removed" }],
    ["A: not sent here any more; offline since 14:05 GMT", { endReason: "not_sent_here" }],
    [
      "A: rule removed; was offline 14:05–14:14 GMT (9 m)",
      { endReason: "rule_removed", facts: { timezone: "Europe/London", problem: "offline", clearing: true } },
    ],
    [
      "A: expired, current state not known; offline when last read, 14:05–14:14 GMT (9 m)",
      { endReason: "expired", isNew: true },
    ],
  ])("in a list reads %s", (line, changes) => {
    expect(facts({ resolved: [endedOf("A", changes), endedOf("B")] })[0]).toEqual(line);
  });

  it("leaves the quality of an offline camera out: there is none", () => {
    const [line] = facts({ firing: [alertOf("A", { facts: { timezone: "UTC", averageQuality: 0.9 } })] });
    expect(line).not.toContain("quality");
  });

  it.each([
    ["Leeds Briggate Entrance", "Entrance"],
    ["LEEDS BRIGGATE – Till 3", "Till 3"],
    ["Leeds Briggate", "Leeds Briggate"],
    ["Leeds Briggates", "Leeds Briggates"],
    ["Leeds Briggate \u200b", "Leeds Briggate"],
    ["North Leeds Briggate", "North Leeds Briggate"],
  ])("calls %j %j beside the name of its location", (recording, short) => {
    const named = alertOf("x", LABELS({ recording }));
    expect(message({ firing: [named, alertOf("Till 4")] }).sections[0]?.entries[0]?.name).toBe(short);
  });

  it("names the location where a group has several", () => {
    expect(facts({ firing: [alertOf("A"), alertOf("B", YORK)] })).toEqual([
      "A: offline since 14:05 GMT (12 m) · Leeds Briggate",
      "B: offline since 14:05 GMT (12 m) · York",
    ]);
  });

  it("carries annotations, zones and links, and no summary that only repeats the line", () => {
    const annotations = {
      summary: "A at Leeds Briggate is offline",
      description: "Somebody pulled a plug.",
      zones: "Entrance, Tills",
      impact: "about 120 entries on a Friday",
      runbook_url: "https://wiki.example.com/a|b",
    };
    const facts = { timezone: "Europe/London", problem: "offline", restated: ["summary"] } as const;
    const restated = alertOf("A", { annotations, facts });
    const [entry] = message({ firing: [restated] }).sections[0]?.entries ?? [];
    expect(entry?.notes).toEqual([
      "Somebody pulled a plug.",
      "Zones Entrance, Tills",
      "Impact: about 120 entries on a Friday",
    ]);
    expect(entry?.links.map(({ label, url }) => [label, url.split("?")[0]])).toEqual([
      ["Acknowledge", "https://lenswatch.example.com/alerts/0123456789abcdef"],
      ["Silence", "https://lenswatch.example.com/silences/new"],
      ["Status", "https://lenswatch.example.com/recordings/410000000000000000000000"],
      ["Runbook", "https://wiki.example.com/a%7Cb"],
    ]);
    const silence = new URL(entry?.links[1]?.url ?? "");
    expect(silence.searchParams.get("matchers")).toBe(
      'alertname="RecordingOffline", recording_id="410000000000000000000000"',
    );
    const written = message({ firing: [alertOf("A", { annotations: { summary: "Call Bob" } })] });
    expect(written.sections[0]?.entries[0]?.notes).toEqual(["Call Bob"]);
  });

  it("has no link where no address is configured, and none to what is no web page", () => {
    const firing = [alertOf("A", { annotations: { runbook_url: "javascript:alert(1)" } })];
    const { sections, overview } = message({ firing, externalUrl: undefined });
    expect(sections[0]?.entries[0]?.links).toEqual([]);
    expect(overview).toBeUndefined();
  });
});

describe("a message", () => {
  it("explains what an unreachable service means", () => {
    expect(message({ firing: [service] }).lead.join()).toContain(
      "unknown until they can be read again: no alert does not mean that a recording is online",
    );
    expect(message({ firing: [partly] }).lead.join()).toContain("no alert does not mean that all is well");
  });

  it("shows the known cause", () => {
    expect(message({ firing: [failing] }).sections[0]?.entries[0]?.notes).toEqual([
      "Slack refused the webhook (403 invalid_token).",
    ]);
  });

  it("marks a test as one, without links to press", () => {
    const { lead, sections, tone } = message({ reason: "test", firing: [alertOf("A")] });
    expect(lead[0]).toMatch(/^This is a test of the receiver ops\. No action is needed\.$/);
    expect(sections[0]?.heading).toBe("Example, not real (1)");
    expect(sections[0]?.entries[0]?.links).toEqual([]);
    expect(tone).toBe("info");
  });

  it("separates new, ongoing and resolved alerts", () => {
    const changes = { firing: [alertOf("A", told), alertOf("B")], resolved: [endedOf("C")] };
    const headings = message({ reason: "more", ...changes }).sections.map(({ heading, total }) => [heading, total]);
    expect(headings).toEqual([
      ["New (1)", 1],
      ["Still firing (1)", 1],
      ["Recovered (1)", 1],
    ]);
  });

  it.each<[string, Partial<Notification>]>([
    ["critical", { firing: [alertOf("A", LOW_QUALITY), alertOf("B")] }],
    ["warning", { firing: [alertOf("A", LOW_QUALITY)] }],
    ["info", { firing: [alertOf("A", LABELS({ severity: "" }))] }],
    ["critical", { firing: [alertOf("A")], resolved: [endedOf("B")] }],
    ["recovered", { resolved: [endedOf("A")] }],
    ["info", { resolved: [endedOf("A"), endedOf("B", { endReason: "no_longer_watched" })] }],
    ["info", { resolved: [over(location({ offline: 1, of: 4 }))] }],
  ])("has the tone %s", (tone, changes) => {
    expect(message(changes).tone).toBe(tone);
  });

  it.each<[string, string]>([
    ["🔴 A offline", "critical"],
    ["🟠 A offline", "warning"],
    ["🔵 A offline", ""],
    ["🔵 A offline", "none"],
    ["🔴 page: A offline", "page"],
    ["🔵 sev2: A offline", "sev2"],
  ])("reads %s of severity %j", (start, severity) => {
    expect(message({ firing: [alertOf("A", LABELS({ severity }))] }).title).toBe(`${start} · Leeds Briggate`);
  });

  it("says what is known of the location and of earlier outages, once", () => {
    const impact = {
      here: { online: 3, of: 4 },
      uncounted: { estimate: 94, low: 80.2, high: 111 },
      worth: { valuePerVisit: 12.5, currency: "EUR" },
      outages: 2,
      usual: "the location usually counts 1 entry",
    };
    const annotations = { zones: "Ground:Entrance:Main Door", impact: impact.usual };
    const door = alertOf("Leeds Briggate Entrance", { annotations, impact });
    const text = (changes: Partial<Notification>) => renderSlack(notificationOf(changes)).text?.split("\n");
    expect(text({ firing: [door] })).toEqual([
      "🔴 Entrance offline · Leeds Briggate",
      "Since 14:05 GMT (12 m) · 3 of 4 recordings here still online · about 95 visits uncounted so far (80–110), about 1,200 EUR",
      "Zone Ground › Entrance › Main Door · 2nd outage in 7 days",
    ]);
    const less = { ...impact, uncounted: { estimate: 60, low: 50, high: 70 } };
    const { common, sections } = message({ firing: [alertOf("Tills", { impact: less }), door] });
    expect(common).toEqual([
      "3 of 4 recordings here still online · about 95 visits uncounted so far (80–110), about 1,200 EUR",
    ]);
    expect(sections[0]?.entries.map(({ facts }) => facts).join()).not.toContain("online");
    const one = { here: { online: 0, of: 1 }, outages: 12 };
    expect(text({ firing: [alertOf("Entrance", { impact: one })] })).toEqual([
      "🔴 Entrance offline · Leeds Briggate",
      "Since 14:05 GMT (12 m)",
      "12th outage in 7 days",
    ]);
  });

  it("says at the end what was not counted, once for each location", () => {
    const cost = (estimate: number) => ({
      impact: { uncounted: { estimate, low: estimate * 0.9, high: estimate * 1.2 } },
    });
    const facts = (...resolved: NotifiedAlert[]) =>
      message({ firing: [], resolved }).sections[0]?.entries.map((entry) => /about.*uncounted/.exec(entry.facts)?.[0]);
    expect(facts(endedOf("Till 3", cost(310)))).toEqual(["about 310 visits uncounted"]);
    const york = LABELS({ location: "York", location_id: "york" });
    const all = [endedOf("Till 3", cost(40)), endedOf("Door", cost(310)), endedOf("Door", { ...york, ...cost(20) })];
    expect(facts(...all)).toEqual([undefined, "about 310 visits uncounted", "about 20 visits uncounted"]);
  });

  it("has ids last", () => {
    const annotations = { description: "Camera server 93c2f939.", zones: "Ground:Tills", impact: "nobody can pay" };
    const [entry] = message({ firing: [alertOf("A", { annotations })] }).sections[0]?.entries ?? [];
    expect(entry?.notes).toEqual(["Zone Ground › Tills", "Impact: nobody can pay", "Camera server 93c2f939."]);
  });

  it("tells a lock screen what, where, since when and how bad", () => {
    const recording = `Manchester Market Street ${"Womenswear ".repeat(3)}`;
    const shop = LABELS({ recording, location: "Manchester Market Street", location_id: "m" });
    const text = renderSlack(notificationOf({ firing: [alertOf("x", shop)] })).text ?? "";
    const first = [...text].slice(0, 100).join("");
    expect(first).toMatch(
      /^🔴 Womenswear Womenswear Womenswear offline · Manchester Market Street\nSince 14:05 GMT \(12 m\)/,
    );
  });

  it.each(["no_longer_watched", "not_sent_here", "rule_removed", "expired"] as const)(
    "never states that an alert that ended as %s has recovered",
    (endReason) => {
      for (const isNew of [true, false]) {
        const words = JSON.stringify(message({ resolved: [endedOf("A", { endReason, isNew })] }));
        expect(words).not.toMatch(/recover|back\b|good again/i);
      }
    },
  );

  it("lists a storm by location, most affected first, and counts all alerts", () => {
    const firing = Array.from({ length: 340 }, (_, i) =>
      alertOf(`Camera ${i}`, LABELS({ location: `Shop ${i % 23}`, location_id: `${i % 23}` })),
    );
    const { title, sections } = messageOf(notificationOf({ firing }), 10);
    expect(title).toBe("🔴 340 recordings offline · 23 locations");
    expect(sections[0]).toMatchObject({ heading: "Offline since 14:05 GMT (12 m)", total: 23, unit: "location" });
    expect(sections[0]?.entries).toHaveLength(8);
    expect(sections[0]?.entries[0]).toMatchObject({ name: "Shop 0", facts: "15 recordings" });
  });
});

it("an escalation says to whom, and after which time without an acknowledgement", () => {
  const escalated = notificationOf({ firing: [alertOf("Till 3")], receiver: "phone", escalatedAfterMs: 15 * MINUTE });
  expect(messageOf(escalated, 5).lead).toContain("Escalated to phone: not acknowledged for 15 m.");
});
