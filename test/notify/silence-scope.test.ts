import { describe, expect, test } from "vitest";
import { matchesAll, parseMatchers } from "../../src/alerting/matcher.ts";
import type { NotifiedAlert } from "../../src/alerting/model.ts";
import type { ProblemKind } from "../../src/health/alert.ts";
import { silenceLink } from "../../src/notify/link.ts";
import { silenceScopes } from "../../src/notify/silence-scope.ts";
import { actionsOf } from "../../src/notify/slack/actions.ts";
import { anAlert } from "../support/fixtures.ts";
import { alertOf, NOW, notificationOf, otherAlert } from "./fixtures.ts";

const at = (id: string, location = `Site ${id}`) => ({ location_id: id, location });
const external = (own: Record<string, string>): NotifiedAlert => {
  const labels = { alertname: "DiskFull", ...own };
  return {
    ...anAlert({ subject: { kind: "external", id: "f" }, labels }),
    fingerprint: "0123456789abcdef",
    isNew: true,
  };
};
const problem = (kind: ProblemKind) => ({ facts: { timezone: "Europe/London", problem: kind } });
const server = (name: string) =>
  otherAlert("group", `camera_server/${name}`, { alertname: "CameraServerOffline", camera_server: name });
const LEEDS = "All of Leeds Briggate";

describe("what a button silences", () => {
  test.each<[string, NotifiedAlert[], string[], string]>([
    ["a camera", [alertOf("Till 3")], ["This camera (offline)", LEEDS], "Till 3 · Leeds Briggate (offline)"],
    [
      "a camera under a rule of another name",
      [alertOf("Till 3", { ...problem("offline"), labels: { alertname: "TillOut" } })],
      ["This camera (TillOut)", LEEDS],
      "Till 3 · Leeds Briggate (TillOut)",
    ],
    [
      "a location",
      [otherAlert("location", "1", { alertname: "LocationOffline", ...at("1", "York") })],
      ["All of York"],
      "All of York",
    ],
    [
      "the counts of a location",
      [otherAlert("location", "1", { alertname: "CountsImplausible", ...at("1", "York") }, problem("counts_low"))],
      ["York (counts too low)", "All of York"],
      "York (counts too low)",
    ],
    ["a camera server", [server("edge-7")], ["All of camera server edge-7"], "All of camera server edge-7"],
    [
      "an organisation",
      [
        otherAlert(
          "group",
          "organisation/acme",
          { alertname: "OrganisationOffline", organisation: "acme" },
          problem("organisation_offline"),
        ),
      ],
      ["All of organisation acme"],
      "All of organisation acme",
    ],
    [
      "the counts of a time zone",
      [
        otherAlert(
          "group",
          "timezone/Europe/London",
          { alertname: "CountsDroppedTogether", timezone: "Europe/London" },
          problem("counts_together"),
        ),
      ],
      ["Time zone Europe/London (counts dropped together)"],
      "Time zone Europe/London (counts dropped together)",
    ],
    [
      "the service",
      [otherAlert("service", "analytics", { alertname: "ServiceUnreachable" })],
      ["Service unreachable"],
      "Service unreachable",
    ],
    [
      "an integration",
      [
        otherAlert("integration", "ops/slack/0", {
          alertname: "NotificationsFailing",
          receiver: "ops",
          integration: "slack",
        }),
      ],
      ["ops / slack (notifications failing)"],
      "ops / slack (notifications failing)",
    ],
    ["an alert from outside", [external({ instance: "nas" })], ["DiskFull: nas"], "DiskFull: nas"],
    [
      "two camera servers",
      [server("edge-7"), server("edge-8")],
      ["These 2 alerts"],
      "2 camera servers offline: Camera server edge-7, Camera server edge-8",
    ],
    [
      "cameras of a location",
      ["A", "B"].map((name) => alertOf(name)),
      ["These 2 alerts", LEEDS],
      "2 recordings offline: A · Leeds Briggate, B · Leeds Briggate",
    ],
    [
      "cameras of several locations",
      ["1", "2", "3", "4", "5"].map((id) => alertOf(`C${id}`, { labels: at(id) })),
      ["These 5 alerts", "All of these 5 locations"],
      "5 recordings offline: C1 · Site 1, C2 · Site 2, C3 · Site 3 and 2 more",
    ],
    [
      "a camera and a server",
      [alertOf("A"), server("edge-7")],
      ["These 2 alerts"],
      "1 recording offline, 1 camera server offline: A · Leeds Briggate, Camera server edge-7",
    ],
  ])("of %s is named, and is what the links of its alerts prepare", (_, alerts, labels, name) => {
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
    const many = Array.from({ length: 30 }, (_, i) => external({ [`label_${i}`]: "x" }));
    expect(silenceScopes(many)).toEqual([]);
  });
});

describe("the menu of a message", () => {
  const conversation = { id: "0123456789abcdef", openedAt: NOW, isOver: false };
  const optionsOf = (firing: NotifiedAlert[]) => {
    const block = actionsOf(notificationOf({ conversation, group: { id: "g", labels: {} } }), firing);
    const menu = block?.elements.find(({ type }) => type === "static_select");
    return menu && "options" in menu ? menu.options : [];
  };

  // docs.slack.dev, Block Kit: option object, static select.
  test.each([
    "x".repeat(300),
    "🎥".repeat(300),
    "שלום ".repeat(80),
    "<!channel> *x* :fire: \u202e",
    "\n\u0000",
    "a".repeat(30),
  ])("is within Slack's limits, and plain text, for the name %j", (name) => {
    const labels = { location: name, recording: name, camera_server: name, alertname: name };
    const all = [
      [alertOf(name, { labels })],
      [otherAlert("location", "1", { ...labels, location_id: "1" })],
      [otherAlert("group", `camera_server/${name}`, labels, problem("camera_server_offline"))],
      [external(labels)],
      Array.from({ length: 2_000 }, (_, i) => alertOf(`${i}`, { labels: { ...labels, location_id: `${i}` } })),
    ];
    for (const firing of all) {
      const options = optionsOf(firing);
      expect(options.length).toBeGreaterThan(2);
      expect(options.length).toBeLessThanOrEqual(100);
      for (const { text, value } of options) {
        expect(text).toMatchObject({ type: "plain_text", emoji: false });
        expect(text.text.length).toBeLessThanOrEqual(75);
        expect(text.text).toMatch(/, (?:1 h|4 h|until 08:00 there)$/);
        expect(text.text.isWellFormed()).toBe(true);
        expect(text.text).not.toMatch(/\p{Cc}|\u202e/u);
        expect(value.length).toBeLessThanOrEqual(150);
      }
    }
  });

  test.each([
    ["service", "analytics", { alertname: "ServiceUnreachable" }, "Service unreachable, until 08:00 UTC"],
    [
      "integration",
      "ops/slack/0",
      { alertname: "NotificationsFailing", receiver: "ops", integration: "slack" },
      "ops / slack (notifications failing), until 08:00 UTC",
    ],
  ] as const)("names the zone of an alert about the %s, which is at no place", (kind, id, labels, text) => {
    const alert = otherAlert(kind, id, labels, { facts: { timezone: "UTC" } });
    expect(optionsOf([alert]).map((one) => one.text.text)).toContain(text);
  });

  test("offers no morning where the alerts have several time zones", () => {
    const zones = ["Europe/London", "America/New_York"].map((timezone, i) =>
      alertOf(`${i}`, { facts: { timezone, problem: "offline" } }),
    );
    expect(optionsOf(zones).map(({ text }) => text.text)).toEqual([
      "These 2 alerts, 1 h",
      "These 2 alerts, 4 h",
      "All of Leeds Briggate, 1 h",
      "All of Leeds Briggate, 4 h",
    ]);
  });
});
