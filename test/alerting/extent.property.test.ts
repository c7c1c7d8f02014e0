/** The number in a title: recordings at several locations and on several camera servers, each counted once. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { extentOf, isSharedOutage, namedOnce } from "../../src/alerting/extent.ts";
import { phraseOf } from "../../src/alerting/words.ts";
import type { Alert } from "../../src/health/alert.ts";
import { messageOf } from "../../src/notify/message.ts";
import { notificationOf } from "../notify/fixtures.ts";
import { anAlert } from "../support/fixtures.ts";
import { Fleet, type Layout, layouts, outagesOf } from "./outage-fleet.ts";

/** Places in the layout of the offline recordings that an alert is about, whatever it says of them. */
function recordingsOf({ subject: { kind, id } }: Alert, layout: Layout, offline: ReadonlySet<number>): number[] {
  const name = id.replace("camera_server/", "");
  return [...offline].filter((i) => (kind === "recording" ? id === `${i}` : layout[i]?.includes(name)));
}

const low = anAlert({ labels: { location_id: "elsewhere" }, facts: { timezone: "UTC", problem: "low_quality" } });

/** Phases of an outage, and which of the alerts a message has: any part, as routes and suppression leave it. */
const stories = layouts.chain((layout) =>
  fc.tuple(
    fc.constant<Layout>(layout),
    fc.array(outagesOf(layout), { minLength: 1, maxLength: 3 }),
    fc.infiniteStream(fc.boolean()),
  ),
);
/** How many are said to be offline. */
const numbersIn = (text: string) =>
  [...text.matchAll(/(\d+)(?: of \d+)? recordings?(?: still)? offline/g)].map(([, n]) => Number(n));

test("is that of the recordings concerned, and never more than are offline now", () => {
  const seen = { exact: 0, least: 0 };
  fc.assert(
    fc.property(stories, ([layout, phases, chosen]) => {
      const fleet = new Fleet(layout);
      for (const offline of phases) {
        fleet.offline = offline;
        fleet.ticks(5);
        const all = [...fleet.firing.values()];
        for (const firing of [all, all.filter(() => chosen.next().value)]) {
          const union = new Set(firing.flatMap((alert) => recordingsOf(alert, layout, offline)));
          const { offline: n, isExact, locations, areLocationsExact } = extentOf(firing);
          const places = new Set([...union].map((i) => layout[i]?.[0])).size;
          expect(isExact ? n : Math.min(n, union.size)).toBe(isExact ? union.size : n);
          expect(areLocationsExact ? locations : Math.min(locations, places)).toBe(
            areLocationsExact ? places : locations,
          );
          expect(extentOf([...firing, low])).toEqual(extentOf(firing));
          seen[isExact ? "exact" : "least"]++;
          if (firing.length === 0) continue;
          const notified = firing.map((alert) => ({ ...alert, fingerprint: "0", isNew: true }));
          for (const groups of [undefined, 12]) {
            const { title } = messageOf(notificationOf({ firing: notified, groups }), 50);
            for (const number of numbersIn(title)) expect(number, title).toBeLessThanOrEqual(offline.size);
          }
          for (const number of numbersIn(phraseOf(firing))) expect(number).toBeLessThanOrEqual(offline.size);
        }
      }
    }),
    { numRuns: 40 },
  );
  expect(seen.exact).toBeGreaterThan(10 * seen.least);
});

test("what is named covers all of it, and no name is of what others name already", () => {
  fc.assert(
    fc.property(stories, ([layout, [offline = new Set<number>()]]) => {
      const fleet = new Fleet(layout);
      fleet.offline = offline;
      fleet.ticks(5);
      const firing = [...fleet.firing.values()];
      const covered = (alerts: readonly Alert[]) =>
        new Set(alerts.flatMap((one) => recordingsOf(one, layout, offline)));
      const names = namedOnce(firing);
      expect(covered(names)).toEqual(covered(firing));
      for (const name of names.filter((one) => !isSharedOutage(one)))
        expect(covered([name]).isSubsetOf(covered(names.filter(isSharedOutage)))).toBe(false);
    }),
    { numRuns: 40 },
  );
});
