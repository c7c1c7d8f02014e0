/** Names from outside that every object has by itself are looked up as any other: what nobody gave is not there. */
import { describe, expect, test } from "vitest";
import type { Maintenance } from "../../src/alerting/maintenance.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { lastReadAt } from "../../src/alerting/stale.ts";
import { withSuppressionLines } from "../../src/alerting/suppression-lines.ts";
import { isChosen } from "../../src/digest/compute/recording.ts";
import { recordingLabels } from "../../src/health/recording-evaluator.ts";
import { withPlanned } from "../../src/http/page/uptime-days.ts";
import { own } from "../../src/lib/own.ts";
import { renderPagerDuty } from "../../src/notify/pagerduty.ts";
import { titleOf } from "../../src/notify/title.ts";
import { smallFleet } from "../http/page/fleet.ts";
import { serve } from "../http/serve.ts";
import { holdsInMemory } from "../http/silences.ts";
import { NOW } from "../metrics/fleets.ts";
import { alertOf, notificationOf } from "../notify/fixtures.ts";
import { anAlert, aRecording, aSilence } from "../support/fixtures.ts";

const NAMES = Object.getOwnPropertyNames(Object.prototype);
const subject = { recording: aRecording("a"), locationName: "Leeds", status: "online", since: 0 } as const;

describe.each(NAMES)("the name %s", (name) => {
  const anything = parseMatchers(`"${name}"=~".+"`);
  const nothing = parseMatchers(`"${name}"=""`);

  test("is of a record only where it has it itself", () => {
    expect(own({}, name)).toBeUndefined();
    expect(own(Object.fromEntries([[name, 1]]), name)).toBe(1);
    const about = { ...anAlert(), subject: { kind: "recording" as const, id: name } };
    expect(lastReadAt({ goodAt: 5, attemptedAt: 5, unread: {} }, about, name)).toBe(5);
  });

  test("in a matcher is of a label that is missing, for reports, maintenance and silences", () => {
    expect([anything, nothing].map((matchers) => isChosen(matchers, subject))).toEqual([false, true]);
    const planned = (matchers: Maintenance["matchers"]) => {
      const always = { name: "always", intervals: [{ times: [{ from: 0, to: 1_440 }], location: "UTC" }] };
      const day = { day: "1970-01-01", from: 0, ratio: 1, weight: 1, hours: [] };
      const labels = recordingLabels("a", "l", smallFleet.inventory);
      return withPlanned([day], 10, [labels], [{ name: "m", comment: "", matchers, timeIntervals: [always] }])[0]
        ?.plannedMs;
    };
    expect([anything, nothing].map(planned)).toEqual([0, 10]);
    const naming = parseMatchers('recording_id="a"');
    const silence = aSilence({ matchers: [...naming, ...anything], startsAt: 1, endsAt: 2 });
    const subjects = [[{ kind: "recording", id: name }, {}]] as const;
    expect(withSuppressionLines([], { silences: [silence], subjects, since: 0, now: 3 })).toEqual([]);
  });

  test("as a severity is one that nobody knows", () => {
    const firing = ["Till", "Door"].map((one) => alertOf(one, { labels: { alertname: "X", severity: name } }));
    const notification = notificationOf({
      firing,
      conversation: { id: "0", openedAt: NOW, isOver: false },
      standing: [],
    });
    expect(renderPagerDuty(notification, { sendResolved: true })[0]?.payload?.severity).toBe("error");
    expect(titleOf(notification)).not.toMatch(/native code|object/);
  });

  test("in a silence takes down no page", async () => {
    const { deps, kept } = holdsInMemory({ now: () => NOW });
    const span = { startsAt: NOW - 1, endsAt: NOW + 9_999 };
    kept.set("s", aSilence({ id: "s", matchers: parseMatchers(`"${name}"="x"`), ...span, comment: "why" }));
    const { get } = await serve({ ...deps, fleet: async () => smallFleet });
    for (const path of ["/?show=silences", `/silences/new?matchers=${encodeURIComponent(`"${name}"="x"`)}`]) {
      const response = await get(path);
      expect(response.status, path).toBe(200);
      expect(await response.text(), path).not.toMatch(/native code|\[object/);
    }
  });
});

test("a silence that cannot be shown takes no other from the page, and says which it is", async () => {
  const { deps, kept } = holdsInMemory({ now: () => NOW });
  const span = { startsAt: NOW - 1, endsAt: NOW + 9_999 };
  kept.set("fine", aSilence({ id: "fine", ...span, comment: "rewiring" }));
  const matchers = [{ operator: "=", value: "x", matches: () => false, name: Symbol("x") as never }] as const;
  kept.set("broken", aSilence({ id: "broken", ...span, matchers }));
  const { get } = await serve({ ...deps, fleet: async () => smallFleet });
  const response = await get("/?show=silences");
  expect(response.status).toBe(200);
  const html = await response.text();
  expect(html).toContain("rewiring");
  expect(html).toMatch(/Silence <bdi>broken<\/bdi> cannot be shown/);
});
