import { describe, expect, test } from "vitest";
import { createMatcher } from "../../../src/alerting/matcher.ts";
import type { Silence } from "../../../src/alerting/silence.ts";
import type { FleetSnapshot } from "../../../src/health/shard-state.ts";
import type { ActiveAlert } from "../../../src/http/deps.ts";
import { readPageData, versionOf } from "../../../src/http/page/page-data.ts";
import { alertState, fleetOf, INTERVAL, largeFleet, NOW, recordingState } from "../../metrics/fleets.ts";
import { aSilence } from "../../support/fixtures.ts";
import { overviewOfFleet } from "../../support/overviews.ts";
import { alertOf, smallFleet } from "./fleet.ts";

interface Given {
  readonly fleet?: FleetSnapshot;
  readonly alerts?: readonly ActiveAlert[];
  readonly silences?: readonly Silence[];
}

async function version({ fleet = smallFleet, alerts = [], silences = [] }: Given = {}): Promise<string> {
  const data = await readPageData({
    overview: async () => overviewOfFleet(fleet),
    alerts: async () => alerts,
    silences: async () => silences,
    endedLately: async () => [],
  });
  return versionOf(data);
}

const dark: ActiveAlert = { alert: alertOf("RecordingOffline"), receivers: ["ops"] };
const silence = aSilence({
  matchers: [createMatcher("a", "=", "b")],
  startsAt: NOW - 1_000,
  endsAt: NOW + 1_000,
  comment: "",
});
const one = (differing: Parameters<typeof recordingState>[1] = {}, fleet = {}) => ({
  fleet: { ...fleetOf({ recordings: [recordingState("a", differing), recordingState("b")] }), ...fleet },
});

describe("the version of what is shown", () => {
  test.each<[string, Given, Given]>([
    ["a recording goes dark", one(), one({ status: "offline", since: NOW })],
    ["it is back for the second time", one({ since: NOW - 60_000 }), one({ since: NOW - 30_000 })],
    ["nothing is heard of it", one(), one({}, { now: NOW + 4 * INTERVAL })],
    ["an alert is pending", one(), one({ alerts: { A: alertState("A", { state: "pending" }) } })],
    ["an alert fires", {}, { alerts: [dark] }],
    [
      "it is acknowledged",
      { alerts: [dark] },
      { alerts: [{ ...dark, acknowledgement: { author: "a", comment: "", at: NOW } }] },
    ],
    ["it is silenced", { alerts: [dark] }, { alerts: [{ ...dark, silencedBy: ["s1"] }] }],
    ["it is explained", { alerts: [dark] }, { alerts: [{ ...dark, inhibitedBy: ["f"] }] }],
    ["a silence is set", {}, { silences: [silence] }],
    ["a silence is changed", { silences: [silence] }, { silences: [{ ...silence, updatedAt: NOW + 1 }] }],
    ["a silence is over", { silences: [silence] }, { silences: [{ ...silence, endsAt: NOW }] }],
  ])("is another once %s", async (_, before, after) => {
    expect(await version(after)).not.toBe(await version(before));
  });

  test("is the same while nothing but ages and figures move", async () => {
    const later = one({ readAt: NOW + 1_000, lastSeenAt: NOW + 1_000, averageQuality: 0.1 }, { now: NOW + 1_000 });
    expect(await version(later)).toBe(await version(one()));
  });

  test("is the same at a replica that read things in another order", async () => {
    const fleet = largeFleet(2_000);
    const turned = { ...fleet, shards: fleet.shards.toReversed() };
    const other: ActiveAlert = { ...dark, alert: { ...dark.alert, id: "x", key: "x" } };
    const silences = [silence, { ...silence, id: "s2" }];
    expect(await version({ fleet: turned, alerts: [other, dark], silences: silences.toReversed() })).toBe(
      await version({ fleet, alerts: [dark, other], silences }),
    );
  });
});
