import { expect, test } from "vitest";
import { digestPeriod } from "../../../src/digest/period.ts";
import { headline } from "../../../src/digest/render/headline.ts";
import { keyFigures } from "../../../src/digest/render/view.ts";
import { outageTimes } from "../../../src/digest/render/words.ts";
import { computeDigest, type DigestInput } from "../compute-digest.ts";
import { at, day, HOUR, input, locationOffline, NOW, offline, subject } from "../fixtures.ts";

const ids = Array.from({ length: 212 }, (_, i) => `r${i}`);
const fleet = ids.map((id, i) => subject(id, i < 4 ? {} : { locationName: "York Coney Street" }));
const up = new Map(ids.map((id) => [id, day(1)]));
const unreachable = [{ from: at("10:00"), to: at("10:40") }];
const unseen = (id: string) => subject(id, { status: "unknown", since: 0 });

test.each<[string, Partial<DigestInput>]>([
  ["a good day", { uptime: up }],
  [
    "almost no data",
    { recordings: [subject("r0", { status: "offline", since: NOW - 60_000 }), unseen("x"), unseen("y")] },
  ],
  [
    "an offline location",
    {
      uptime: up,
      episodes: [
        ...["r0", "r1", "r2", "r3"].map((id) => offline(id, at("14:05"), at("16:25"))),
        locationOffline("leeds-briggate", at("14:05"), at("17:40")),
      ],
    },
  ],
  [
    "two offline locations, one of them still",
    {
      uptime: up,
      episodes: [
        offline("r9", at("23:00"), at("23:20")),
        locationOffline("leeds-briggate", at("23:00")),
        locationOffline("york-coney-street", at("14:05"), at("14:06")),
        locationOffline("york-coney-street", at("15:05"), at("15:06")),
      ],
    },
  ],
  [
    "an offline location whose recordings have no outage of their own",
    { uptime: up, episodes: [locationOffline("leeds-briggate", at("14:05"), at("17:40"))] },
  ],
  [
    "a single camera, still down, and caveats",
    {
      recordings: [subject("r0", { status: "offline", since: at("22:40") }), ...fleet.slice(1, 211), unseen("x")],
      uptime: new Map([...up, ["r5", day(0.7)]]),
      episodes: [offline("r0", at("22:40"))],
      unreachable,
    },
  ],
  [
    "trouble only since the morning",
    {
      uptime: up,
      recordings: [subject("r0", { status: "offline", since: at("2026-11-20T07:00:00Z") }), ...fleet.slice(1)],
    },
  ],
  ["a good day with caveats", { uptime: up, recordings: [...fleet.slice(0, 210), unseen("x"), unseen("y")] }],
  ["a day watched in part", { uptime: up, unreachable }],
  ["a day in which it was installed", { uptime: up, unwatched: [{ from: at("00:00"), to: at("09:13") }] }],
  ["a day before it was", { uptime: up, unwatched: [{ from: 0, to: NOW }] }],
  [
    "a day before it was, with one down now",
    {
      uptime: up,
      recordings: [subject("r0", { status: "offline", since: at("2026-11-20T07:00:00Z") }), ...fleet.slice(1)],
      unwatched: [{ from: 0, to: NOW }],
    },
  ],
  [
    "a day watched in part, with an outage and low figures",
    {
      uptime: new Map([...up, ["r5", day(0.7)]]),
      episodes: [offline("r9", at("14:00"), at("14:20"))],
      unwatched: [{ from: at("00:00"), to: at("09:13") }],
    },
  ],
  [
    "several still down, and one location alone",
    {
      recordings: ["r0", "r1", "r2"].map((id, i) => subject(id, i < 2 ? { status: "offline" } : {})),
      uptime: up,
      episodes: [offline("r0", at("22:00")), offline("r1", at("21:00"))],
    },
  ],
  [
    "one still down and one since the morning",
    {
      recordings: ["r0", "r1", "r2"].map((id, i) => subject(id, i < 2 ? { status: "offline" } : {})),
      uptime: up,
      episodes: [offline("r0", at("22:00")), offline("r1", at("2026-11-20T07:00:00Z"))],
    },
  ],
  ["no data", { recordings: ids.map(unseen) }],
  [
    "a day with the service unreachable",
    { recordings: ids.map(unseen), unreachable: [{ from: at("00:00"), to: NOW }] },
  ],
  ["a closed day", { uptime: new Map(ids.map((id) => [id, day(0, { withinSchedule: false })])) }],
  ["one recording", { recordings: fleet.slice(0, 1), uptime: up }],
  ["no recording", { recordings: [] }],
])("of %s begins with the worst news", (_, over) => {
  const { sentence, aside } = headline(computeDigest(input({ recordings: fleet, ...over })));
  expect([sentence, aside]).toMatchSnapshot();
});

test.each([
  ["1w", NOW, "Last week"],
  ["1mo", NOW, "Last month"],
  ["1d", NOW + 30 * HOUR, "Thu 19 Nov 2026:"],
] as const)("a digest of %s made at %i begins with %s", (name, now, words) => {
  const period = digestPeriod(name, NOW, "Europe/London");
  const digest = computeDigest(input({ recordings: fleet, period, now }));
  expect(headline(digest).sentence.startsWith(`${words} `)).toBe(true);
});

test("a day that was not watched has no number of incidents: none is known", () => {
  const figures = (over: Partial<DigestInput>) =>
    keyFigures(computeDigest(input({ recordings: fleet, uptime: up, ...over }))).map(({ name, value }) => [
      name,
      value,
    ]);
  const unwatched = [{ from: 0, to: NOW }];
  expect(figures({ unwatched })).toEqual(
    expect.arrayContaining([
      ["Uptime", "100 %"],
      ["Downtime", ""],
      ["Incidents", ""],
    ]),
  );
  expect(figures({})).toEqual(
    expect.arrayContaining([
      ["Downtime", "0 s"],
      ["Incidents", "0"],
    ]),
  );
  const episodes = [offline("r0", at("10:00"), at("10:30"))];
  expect(figures({ unwatched, episodes })).toEqual(expect.arrayContaining([["Incidents", "1"]]));
});

test("an outage under two minutes is given with seconds", () => {
  const digest = computeDigest(input({ recordings: fleet }));
  const times = (to: string) => outageTimes({ startsAt: at("14:05"), endsAt: Date.parse(`2026-11-19T${to}Z`) }, digest);
  expect([times("14:05:40"), times("14:07:00")]).toEqual(["14:05:00–14:05:40", "14:05–14:07"]);
});
