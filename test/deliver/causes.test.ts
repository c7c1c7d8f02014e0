import { expect, test } from "vitest";
import { causePhrase } from "../../src/alerting/incident-cause.ts";
import { createCauses } from "../../src/deliver/causes.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { fleetOf, NOW, recordingState } from "../metrics/fleets.ts";
import { anAlert } from "../support/fixtures.ts";
import { overviewOfFleet } from "../support/overviews.ts";

const ids = [..."abcdefghij"];
const firing = ids.map((id) =>
  anAlert({
    subject: { kind: "recording", id },
    labels: { alertname: "RecordingOffline", recording_id: id, organisation: "org", location_id: `l-${id}` },
    startsAt: NOW - 60_000,
    facts: { timezone: "UTC", problem: "offline" },
  }),
);
const active = firing.map((alert) => ({
  alert,
  silencedBy: [],
  inhibitedBy: [],
  mutedBy: [],
  acknowledgement: undefined,
}));
const overview = async () =>
  overviewOfFleet(
    fleetOf({
      recordings: [recordingState("z"), ...ids.map((id) => recordingState(id, { status: "offline" }))],
      names: Object.fromEntries(ids.map((id) => [id, id])),
    }),
  );
const causesWith = (suppressed: () => Promise<typeof active>) =>
  createCauses({ log: silentLogger, overview, suppressed });

test("the alerts of a message are explained by what they share, where there are enough of them", async () => {
  const causes = causesWith(async () => active);
  expect((await causes(firing)).map(causePhrase)).toEqual(["all 10 recordings of organisation org, no other"]);
  expect(await causes(firing.slice(8))).toEqual([]);
});

test("a message goes out without an explanation that cannot be read", async () => {
  expect(await causesWith(() => Promise.reject(new Error("gone")))(firing)).toEqual([]);
});
