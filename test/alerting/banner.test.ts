import { describe, expect, test } from "vitest";
import { bannerOf } from "../../src/alerting/banner.ts";
import { alertSubjectName } from "../../src/alerting/incident-words.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Cause, CauseKind, Evidence } from "../../src/health/evidence.ts";
import { fleetOf, NOW, recordingState } from "../metrics/fleets.ts";
import { anAlert } from "../support/fixtures.ts";
import { overviewOfFleet } from "../support/overviews.ts";

const MINUTE = 60_000;
const attempt = { goodAt: NOW - 12 * MINUTE, attemptedAt: NOW - 1_000 };
const cause = (kind: CauseKind, error?: string): Cause => ({ kind, attempts: [attempt], error });
const none = { known: 1, unread: 1, late: 0, isRare: false, unstored: 0, neverRead: 0, oldestAt: NOW };
const evidence = (state: Evidence["state"], ...causes: Cause[]): Evidence => ({ ...none, state, causes });
const fleetWith = (of: Evidence | undefined) =>
  overviewOfFleet({ ...fleetOf({ recordings: [recordingState("a")] }), evidence: of });

function selfAlert(kind: "service" | "integration" | "directory", more: Partial<Alert> = {}): Alert {
  const labels = { alertname: kind, severity: "critical", receiver: "ops", integration: "slack" };
  return anAlert({ subject: { kind, id: kind }, labels, startsAt: NOW - 5 * MINUTE, annotations: {}, ...more });
}
const service = selfAlert("service", {
  annotations: { summary: "It was slow when it began" },
  facts: { timezone: "UTC", problem: "service_unreachable", detail: "It timed out." },
});
const failing = selfAlert("integration", {
  subject: { kind: "integration", id: "ops/slack/0" },
  facts: { timezone: "UTC", detail: "Slack answered 404." },
});
const directory = selfAlert("directory", {
  labels: { severity: "warning" },
  facts: { timezone: "UTC", detail: "shops.csv is empty." },
});
const refused = "GET /token was answered 401: the token was refused; check service.client_id.";

describe("the banner", () => {
  test.each<[string, Evidence | undefined, Alert[], unknown]>([
    ["of nothing", evidence("in_time"), [], undefined],
    ["of nothing while the start is not over", evidence("unknown"), [], undefined],
    [
      "names the cause of now, since its alert began",
      evidence("unreachable", cause("failing", refused)),
      [service],
      ["critical", "The analytics service is unreachable", refused, 5],
    ],
    [
      "does not wait for the alert",
      evidence("partly", cause("unasked")),
      [],
      ["warning", "Recordings are not swept", "Is there a replica with the role poll, with CPU left?", 12],
    ],
    ["leaves out an alert of which all is read again", evidence("in_time"), [service], undefined],
    [
      "shows the alert where the age of readings is not known",
      undefined,
      [service],
      ["critical", "It was slow when it began", "It timed out.", 5],
    ],
    [
      "says how to try a channel",
      evidence("in_time"),
      [failing],
      [
        "critical",
        `Notifications to ${alertSubjectName(failing)} fail`,
        "Slack answered 404. Watch the status page meanwhile.",
        5,
      ],
    ],
    [
      "is of the worst alone",
      evidence("partly", cause("uptimes")),
      [directory, failing],
      [
        "critical",
        `Notifications to ${alertSubjectName(failing)} fail`,
        "Slack answered 404. Watch the status page meanwhile.",
        5,
      ],
    ],
    [
      "is of the service before others as bad",
      evidence("unreachable", cause("failing", refused)),
      [failing, service],
      ["critical", "The analytics service is unreachable", refused, 5],
    ],
    [
      "says how to try the directory",
      evidence("in_time"),
      [directory],
      ["warning", "The directory of shops cannot be read", "`lenswatch check-config` tries it.", 5],
    ],
  ])("%s", (_, of, alerts, expected) => {
    const banner = bannerOf({ fleet: fleetWith(of), alerts });
    if (expected === undefined) return expect(banner).toBeUndefined();
    const [tone, summary, text, minutes] = expected as [string, string, string, number];
    expect(banner).toMatchObject({ tone, summary, since: NOW - minutes * MINUTE });
    expect(banner?.text.endsWith(text), banner?.text).toBe(true);
  });
});
