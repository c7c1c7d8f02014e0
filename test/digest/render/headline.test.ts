import { expect, test } from "vitest";
import type { DigestInput } from "../../../src/digest/digest.ts";
import { headline } from "../../../src/digest/render/headline.ts";
import { computeDigest } from "../compute-digest.ts";
import { at, dark, day, input, NOW, offline, subject } from "../fixtures.ts";

const ids = Array.from({ length: 212 }, (_, i) => `r${i}`);
const fleet = ids.map((id, i) => subject(id, i < 4 ? {} : { locationName: "York Coney Street" }));
const up = new Map(ids.map((id) => [id, day(1)]));
const blind = [{ from: at("10:00"), to: at("10:40") }];
const unseen = (id: string) => subject(id, { status: "unknown", since: 0 });

test.each<[string, Partial<DigestInput>, string, string]>([
  ["a good day", { uptime: up }, "All 212 recordings were up all day", ""],
  [
    "next to nothing known",
    { recordings: [subject("r0", { status: "offline", since: NOW - 60_000 }), unseen("x"), unseen("y")] },
    "1 of 3 recordings is down now; nothing is known about 2",
    "",
  ],
  [
    "a dark location",
    {
      uptime: up,
      incidents: [
        ...["r0", "r1", "r2", "r3"].map((id) => offline(id, at("14:05"), at("16:25"))),
        dark("leeds-briggate", at("14:05"), at("17:40")),
      ],
    },
    "4 of 212 recordings lost 9 h 20 m; Leeds Briggate was dark from 14:05 to 17:40",
    "",
  ],
  [
    "two dark locations, one of them still",
    {
      uptime: up,
      incidents: [
        offline("r9", at("23:00"), at("23:20")),
        dark("leeds-briggate", at("23:00")),
        dark("york-coney-street", at("14:05"), at("14:06")),
        dark("york-coney-street", at("15:05"), at("15:06")),
      ],
    },
    "1 of 212 recordings lost 20 m; Leeds Briggate has been dark since 23:00 (and 1 more location)",
    "",
  ],
  [
    "a dark location whose recordings told no outage of their own",
    { uptime: up, incidents: [dark("leeds-briggate", at("14:05"), at("17:40"))] },
    "Leeds Briggate was dark from 14:05 to 17:40",
    "",
  ],
  [
    "a single camera, still down, and doubts",
    {
      recordings: [
        subject("r0", { status: "offline", since: at("22:40") }),
        ...fleet.slice(1, 211),
        unseen("x"),
      ],
      uptime: new Map([...up, ["r5", day(0.7)]]),
      incidents: [offline("r0", at("22:40"))],
      blind,
    },
    "1 of 212 recordings lost 1 h 20 m; Camera r0 at Leeds Briggate has been down since 22:40; 1 is down now",
    "1 ran below 99 % with no outage seen; nothing is known about 1; lenswatch was blind for 40 m",
  ],
  [
    "trouble only since the morning",
    {
      uptime: up,
      recordings: [
        subject("r0", { status: "offline", since: at("2026-11-20T07:00:00Z") }),
        ...fleet.slice(1),
      ],
    },
    "211 of 212 recordings were up all day; 1 is down now",
    "",
  ],
  [
    "a good day with doubts",
    { uptime: up, recordings: [...fleet.slice(0, 210), unseen("x"), unseen("y")] },
    "210 of 212 recordings were up all day; nothing is known about 2",
    "",
  ],
  [
    "a day seen in parts",
    { uptime: up, blind },
    "All 212 recordings were up whenever lenswatch could see; lenswatch was blind for 40 m",
    "",
  ],
  [
    "a day in which it was installed",
    { uptime: up, unwatched: [{ from: at("00:00"), to: at("09:13") }] },
    "All 212 recordings were up whenever lenswatch could see; lenswatch did not watch for 9 h 13 m",
    "",
  ],
  [
    "a day before it was",
    { uptime: up, unwatched: [{ from: 0, to: NOW }] },
    "All 212 recordings were up by the service's figures; lenswatch did not watch at all",
    "",
  ],
  ["nothing known", { recordings: ids.map(unseen) }, "Nothing is known about any of 212 recordings", ""],
  [
    "a blind day",
    { recordings: ids.map(unseen), blind: [{ from: at("00:00"), to: NOW }] },
    "Nothing is known about any of 212 recordings; lenswatch was blind all day",
    "",
  ],
  [
    "a closed day",
    { uptime: new Map(ids.map((id) => [id, day(0, { withinSchedule: false })])) },
    "All 212 recordings were outside the uploading schedule all day",
    "",
  ],
  ["one recording", { recordings: fleet.slice(0, 1), uptime: up }, "The one recording was up all day", ""],
  ["no recording", { recordings: [] }, "There is no recording to report on", ""],
])("says of %s what matters first", (_, over, sentence, aside) => {
  const { sentence: said, aside: besides } = headline(computeDigest(input({ recordings: fleet, ...over })));
  expect([said, besides]).toEqual([sentence, aside]);
});
