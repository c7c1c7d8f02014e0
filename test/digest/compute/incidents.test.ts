import fc from "fast-check";
import { expect, test } from "vitest";
import { incidentsOf } from "../../../src/alerting/incident.ts";
import { parseMatchers } from "../../../src/alerting/matcher.ts";
import type { DigestEpisode } from "../../../src/digest/digest.ts";
import { computeDigest } from "../compute-digest.ts";
import { at, episode, HOUR, input, locationOffline, MINUTE, offline, subject } from "../fixtures.ts";

const recordings = ["a", "b", "c", "d"].map((id, i) => {
  return subject(id, { locationName: i < 2 ? "Leeds" : "York", cameraServer: `edge-${i % 2}` });
});
const placeOf = (id: string) => (id === "a" || id === "b" ? "leeds" : "york");
const server = (id: string, from: number, to?: number): DigestEpisode => ({
  ...episode("camera_server_offline", "", from, to),
  ...{ id: `server/${id}@${from}`, subject: { kind: "group", id: `camera_server/${id}` } },
});
const MAKERS = [
  (id: string, from: number, to?: number) => ({ ...offline(id, from, to), locationId: placeOf(id) }),
  (id: string, from: number, to?: number) => ({ ...episode("low_quality", id, from, to), locationId: placeOf(id) }),
  (id: string, from: number, to?: number) => locationOffline(placeOf(id), from, to),
  (id: string, from: number, to?: number) => server(id === "a" ? "edge-0" : "edge-7", from, to),
] as const;

test("are those that the recordings of the digest had in the period, with the ids that they have everywhere", () => {
  const one = fc.tuple(
    fc.nat(3),
    fc.constantFrom("a", "b", "c", "d", "gone"),
    fc.nat(60),
    fc.option(fc.integer({ min: 1, max: 20 })),
  );
  fc.assert(
    fc.property(fc.array(one, { maxLength: 12, size: "max" }), fc.boolean(), (all, isLeeds) => {
      const episodes = all.map(([maker, id, from, length]) => {
        const startsAt = at("2026-11-18T12:00:00Z") + from * HOUR;
        return MAKERS[maker]?.(id, startsAt, length === null ? undefined : startsAt + length * HOUR) ?? expect.fail();
      });
      const matchers = parseMatchers(isLeeds ? "location=Leeds" : "");
      const { incidents, period } = computeDigest(input({ recordings, episodes, matchers }));
      const known = new Set(["recording/a", "recording/b", "location/leeds", "group/camera_server/edge-0"]);
      if (!isLeeds) for (const key of ["recording/c", "recording/d", "location/york"]) known.add(key);
      const expected = incidentsOf(episodes).filter((incident) =>
        incident.episodes.some(
          ({ subject: { kind, id }, startsAt, endsAt = Number.POSITIVE_INFINITY }) =>
            known.has(`${kind}/${id}`) && startsAt < period.to && endsAt > period.from,
        ),
      );
      expect(incidents.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
      const outages = incidents.map(({ isOutage }) => isOutage);
      expect(outages.lastIndexOf(true)).toBeLessThan(outages.includes(false) ? outages.indexOf(false) : 99);
    }),
    { numRuns: 300 },
  );
});

test("are worst first: by cameras and time, what is open until now, what is no outage last", () => {
  const episodes = [
    episode("low_quality", "b", at("00:00"), at("09:00")),
    { ...offline("c", at("01:00"), at("04:00")), locationId: "york" },
    ...["a", "b"].map((id) => ({ ...offline(id, at("10:00"), at("12:00")), locationId: "leeds" })),
    { ...offline("d", at("23:30")), locationId: "york" },
    ...[0, 1, 2].map((i) => offline("c", at("14:00") + i * 20 * MINUTE, at("14:05") + i * 20 * MINUTE)),
  ];
  const titles = computeDigest(input({ recordings, episodes })).incidents.map(({ title }) => title);
  expect(titles).toEqual([
    "Camera d · York: offline",
    "2 cameras at Leeds offline",
    "Camera c · York: offline",
    "Camera c · York flapped 3 times",
    "Camera b · Leeds: quality low",
  ]);
});

test("of another selection are counted by its own cameras", () => {
  const episodes = recordings.map(({ recording: { id } }) => ({
    ...offline(id, at("10:00"), at("12:00")),
    locationId: placeOf(id),
  }));
  const storm = [
    ...episodes,
    locationOffline("leeds", at("10:00"), at("12:00")),
    server("edge-0", at("10:00"), at("12:00")),
  ];
  const titlesOf = (matchers: string) =>
    computeDigest(input({ recordings, episodes: storm, matchers: parseMatchers(matchers) })).incidents.map(
      (one) => one.title,
    );
  expect(titlesOf("location=York, camera_server=edge-1")).toEqual(["Camera d · York: offline"]);
});
