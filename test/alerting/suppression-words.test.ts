import { expect, test } from "vitest";
import { type Suppression, suppressionReasons } from "../../src/alerting/model.ts";
import {
  handledText,
  suppressedPhrase,
  suppressionText,
  suppressorName,
} from "../../src/alerting/suppression-words.ts";
import { timesSeenAt } from "../../src/lib/when.ts";

const NOW = Date.parse("2026-01-23T12:00:00Z");
const HOUR = 3_600_000;
const times = timesSeenAt(NOW);
const at = (instant: number) => times.at(instant, "UTC");
const until = NOW + HOUR;
const source = {
  subject: { kind: "location", id: "loc-1" },
  labels: { alertname: "LocationOffline", location_id: "loc-1", location: "Leeds" },
} as const;

test.each<[Suppression, string]>([
  [
    { reason: "silenced", by: "s1", author: "amy", until, comment: "re\nwiring" },
    "silenced by amy until 13:00 UTC: re wiring",
  ],
  [{ reason: "silenced", by: "s1", author: "" }, "silenced by somebody"],
  [{ reason: "inhibited", by: "episode", source }, "inhibited by LocationOffline (Leeds)"],
  [{ reason: "muted", by: "nights", until }, "muted by the time interval nights until 13:00 UTC"],
  [{ reason: "maintenance", by: "works", comment: "fuses" }, "in the maintenance works: fuses"],
  [{ reason: "acknowledged", by: "ana", until, eta: NOW }, "acknowledged by ana until 13:00 UTC, ETA 12:00 UTC"],
  [{ reason: "paused", by: "episode" }, "paused outside the recording's uploading schedule"],
  [{ reason: "stale", by: "shard:3" }, "not read in time"],
])("%j is said as %j", (suppression, words) => {
  expect(suppressionText(suppression, at)).toBe(words);
});

test("each phrase begins the whole of it, and names no id", () => {
  for (const reason of suppressionReasons) {
    const of: Suppression = { reason, by: "amy", until };
    const name = suppressorName(of);
    expect(suppressionText(of, at)).toBe(`${suppressedPhrase(reason, name)} until 13:00 UTC`);
    expect(["amy", undefined]).toContain(name);
  }
});

test("an active alert has all that suppresses it, in brief, in the order of attention", () => {
  const alert = { facts: { timezone: "Europe/London", paused: true } };
  const acknowledgement = { author: "ana", until };
  expect(handledText({ alert, silencedBy: ["s1"], inhibitedBy: [], acknowledgement }, times)).toBe(
    "silenced, acknowledged by ana until 13:00 GMT, outside the schedule",
  );
  expect(handledText({ alert: { facts: { timezone: "UTC" } } }, times)).toBe("");
});
