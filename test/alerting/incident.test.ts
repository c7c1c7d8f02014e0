/** Incidents of episodes: what a night is made of, and what holds of any episodes in any order. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { latestOf } from "../../src/alerting/acknowledgement.ts";
import {
  durationOf,
  type Episode,
  findIncident,
  incidentsOf,
  labelIn,
  sizeOfIncident,
} from "../../src/alerting/incident.ts";
import { incidentPlaces, incidentTitle, matchersInWords } from "../../src/alerting/incident-words.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { matchersFor } from "../../src/alerting/prepared-silence.ts";

const MINUTE = 60_000;
const T0 = Date.parse("2026-11-26T02:30:00Z");

const names = {
  recording: (id: string) => ({ door: "Bath Entrance" })[id] ?? `Camera ${id}`,
  location: (id: string) => ({ bath: "Bath", norwich: "Norwich" })[id] ?? `Shop ${id}`,
};

interface Told extends Partial<Episode> {
  readonly at?: number;
  readonly forMs?: number;
  readonly server?: string;
}

function episode(kind: "recording" | "location" | "group" | "service", id: string, told: Told = {}): Episode {
  const { at = 0, forMs, server, ...more } = told;
  const startsAt = T0 + at;
  const problems = {
    recording: "offline",
    location: "location_offline",
    group: "camera_server_offline",
    service: "service_unreachable",
  } as const;
  return {
    ...{ id: `Rule/${kind}/${id}@${startsAt + 90_000}`, subject: { kind, id }, problem: problems[kind], startsAt },
    ...(kind === "location" ? { locationId: id } : {}),
    ...(server === undefined ? {} : { groups: { camera_server: server } }),
    ...(forMs === undefined ? {} : { endsAt: startsAt + forMs }),
    ...more,
  };
}

const isOpen = ({ endsAt }: Episode) => endsAt === undefined;
const camera = (id: string, locationId: string, told: Told = {}) => episode("recording", id, { locationId, ...told });
const titles = (episodes: readonly Episode[]) => incidentsOf(episodes).map((one) => incidentTitle(one, names));

describe("a night", () => {
  it("a camera that flaps is one incident", () => {
    const flaps = Array.from({ length: 11 }, (_, i) =>
      camera("door", "bath", { at: i * 9 * MINUTE, forMs: 5 * MINUTE }),
    );
    expect(titles(flaps)).toEqual(["Entrance · Bath flapped 11 times"]);
  });

  it("a shop that flaps is one incident, with or without an alert of the whole of it, and lasted for the times that it was out", () => {
    const cuts = Array.from({ length: 6 }, (_, i) => ({ at: i * 27 * MINUTE, forMs: 2 * MINUTE }));
    const cameras = cuts.flatMap((cut) => ["a", "b", "c", "d"].map((id) => camera(id, "bath", cut)));
    const whole = cuts.map((cut) => episode("location", "bath", { ...cut, offline: 4 }));
    for (const episodes of [cameras, [...cameras, ...whole]]) {
      expect(titles(episodes)).toEqual(["4 cameras at Bath flapped 6 times"]);
      expect(incidentsOf(episodes).map((one) => durationOf(one, T0 + 300 * MINUTE))).toEqual([12 * MINUTE]);
    }
  });

  it("a storm is not of the outage that one of its shops has later", () => {
    const shop = (id: string, at: number, forMs?: number) => [
      ...Array.from({ length: 4 }, (_, i) => camera(`${id}/${i}`, id, { at, ...(forMs && { forMs }) })),
      episode("location", id, { at, offline: 4, ...(forMs && { forMs }) }),
    ];
    const storm = Array.from({ length: 12 }, (_, i) => shop(`${i}`, 0, 10 * MINUTE)).flat();
    const [again, before, ...others] = incidentsOf([...storm, ...shop("3", 29 * MINUTE)]);
    expect(others).toEqual([]);
    expect(titles([...storm, ...shop("3", 29 * MINUTE)])).toEqual([
      "4 cameras at Shop 3 offline",
      "48 cameras at 12 locations offline",
    ]);
    expect([again?.startsAt, before?.startsAt]).toEqual([T0 + 29 * MINUTE, T0]);
    const stuck = [...storm, camera("stuck", "3"), ...shop("3", 29 * MINUTE)];
    expect(incidentsOf(stuck).map((one) => one.episodes.length)).toEqual([5, 61]);
    expect(before && durationOf(before, T0 + 60 * MINUTE)).toBe(10 * MINUTE);
  });

  it("shops that go after each other within two minutes, some again, did not all flap", () => {
    const outages = ["1", "1", "2", "3", "4"].map((id, i) =>
      episode("location", id, { at: i * 20_000, forMs: 10_000, offline: 4 }),
    );
    expect(titles(outages)).toEqual(["16 cameras at 4 locations offline"]);
    expect(incidentsOf(outages).map((one) => durationOf(one, T0 + MINUTE * 60))).toEqual([50_000]);
  });

  it("two outages of the service within minutes are one incident, which lasted as long as both", () => {
    const twice = [0, 13 * MINUTE].map((at) => episode("service", "analytics", { at, forMs: 20_000 }));
    expect(titles(twice)).toEqual(["Analytics service: service unreachable"]);
    expect(incidentsOf(twice).map((one) => durationOf(one, T0 + 60 * MINUTE))).toEqual([40_000]);
  });

  it("what has other alerts when its outage is over is named by these, and lasts", () => {
    const cut = [camera("door", "bath", { forMs: MINUTE }), camera("till", "bath", { forMs: MINUTE })];
    const low = ["door", "till"].map((id) =>
      camera(id, "bath", { at: 5 * MINUTE, problem: "low_quality", id: `Low/${id}@1` }),
    );
    expect(titles([...cut, ...low])).toEqual(["2 cameras at Bath: quality low"]);
    expect(incidentsOf([...cut, ...low]).map((one) => durationOf(one, T0 + 60 * MINUTE))).toEqual([56 * MINUTE]);
    const over = low.map((one) => ({ ...one, endsAt: T0 + 30 * MINUTE }));
    expect(titles([...cut, ...over])).toEqual(["2 cameras at Bath offline"]);
    expect(incidentsOf([...cut, ...over]).map((one) => durationOf(one, T0 + 60 * MINUTE))).toEqual([MINUTE]);
  });

  it("a camera that is offline again the next night is another incident", () => {
    const nights = [0, 24 * 60 * MINUTE].map((at) => camera("door", "bath", { at, forMs: 5 * MINUTE }));
    expect(titles(nights)).toEqual(["Entrance · Bath: offline", "Entrance · Bath: offline"]);
  });

  it("a power cut is one incident, with the location's alert that follows and what is offline there already left out", () => {
    const cut = Array.from({ length: 8 }, (_, i) => camera(`n${i}`, "norwich", { at: i * 4_000 }));
    const broken = camera("old", "norwich", { at: -20 * 24 * 60 * MINUTE });
    const later = episode("location", "norwich", { at: 25 * MINUTE, offline: 9 });
    expect(titles([...cut, broken])).toEqual(["8 cameras at Norwich offline", "Camera old · Norwich: offline"]);
    expect(titles([...cut, broken, later])).toEqual(["9 cameras at Norwich offline", "Camera old · Norwich: offline"]);
  });

  it("a camera that flapped before its location was cut is in both: its own until then, the location's from then on", () => {
    const flaps = [-55, -35].map((at) => camera("door", "bath", { at: at * MINUTE, forMs: 5 * MINUTE }));
    const cut = [camera("door", "bath", { at: -5 * MINUTE }), camera("till", "bath", { at: -5 * MINUTE })];
    const whole = episode("location", "bath", { at: 0, offline: 2 });
    expect(incidentsOf([...flaps, ...cut, whole]).map((one) => one.episodes.length)).toEqual([3, 2]);
  });

  it("a camera server of five sites is one incident, and its cause", () => {
    const sites = Array.from({ length: 20 }, (_, i) =>
      camera(`s${i}`, `${i % 5}`, { at: i * 1_000, server: "edge-7" }),
    );
    expect(titles(sites)).toEqual(["Camera server edge-7: 20 cameras at 5 locations offline"]);
    const alert = episode("group", "camera_server/edge-7", { at: MINUTE, server: "edge-7", offline: 20 });
    expect(titles([...sites, alert])).toEqual(["Camera server edge-7: 20 cameras at 5 locations offline"]);
  });

  it("half a fleet is one incident, its recordings counted once, and eight of its shops are named", () => {
    const fleet = Array.from({ length: 240 }, (_, i) =>
      camera(`f${i}`, `${i % 30}`, { at: (i % 90) * 1_000, server: `e${i % 12}` }),
    );
    const servers = Array.from({ length: 12 }, (_, i) =>
      episode("group", `camera_server/e${i}`, { at: MINUTE, offline: 20 }),
    );
    const shops = Array.from({ length: 30 }, (_, i) => episode("location", `${i}`, { at: 2 * MINUTE, offline: 8 }));
    const [only, ...others] = incidentsOf([...fleet, ...servers, ...shops]);
    expect(others).toEqual([]);
    expect(only && incidentTitle(only, names)).toBe("240 cameras at 30 locations offline");
    expect(only && incidentPlaces(only, names)).toMatch(/^(Shop \d+, ){7}Shop \d+ and 22 more$/);
  });

  it("three cameras that fail at once in different shops are three incidents, of one camera server one", () => {
    const apart = (server?: string) =>
      ["bath", "norwich", "york"].map((id, i) => camera(id, id, { at: i * 1_000, ...(server && { server }) }));
    expect(titles(apart())).toHaveLength(3);
    expect(titles(apart("edge-7"))).toEqual(["Camera server edge-7: 3 cameras at 3 locations offline"]);
    expect(titles(apart("edge-7").slice(1))).toHaveLength(2);
    const shops = ["bath", "norwich", "york"].map((id) => episode("location", id, { at: 60_000, offline: 4 }));
    expect(titles([...apart(), ...shops, camera("a", "hull", { at: 90_000 })])).toHaveLength(1);
    expect(titles([...apart(), ...shops.slice(1)])).toHaveLength(3);
  });

  it("the counts of a location and of its cameras are one incident, as long as both fire", () => {
    const low = { problem: "counts_low", alertname: "CountsImplausible" } as const;
    const cameras = [0, 5].map((hour, i) =>
      camera(`c${i}`, "bath", { ...low, at: hour * 60 * MINUTE, forMs: 3 * 60 * MINUTE }),
    );
    const whole = (hour: number) => episode("location", "bath", { ...low, at: hour * 60 * MINUTE });
    expect(titles([...cameras, whole(2)])).toEqual(["Bath: counts too low"]);
    expect(titles([...cameras, whole(4)])).toHaveLength(2);
    expect(titles([...cameras, { ...whole(2), endsAt: T0 + 4 * 60 * MINUTE }])).toHaveLength(2);
    expect(titles([...cameras, { ...whole(2), locationId: "norwich" }])).toHaveLength(3);
  });

  it("what begins at a camera while it flaps or is offline is of that incident, also where a wider cause has it", () => {
    const later = camera("door", "bath", { at: 90 * MINUTE, problem: "low_quality", id: "LowQuality/door@1" });
    const flaps = camera("door", "bath", { problem: "flapping", id: "Flapping/door@1" });
    expect(titles([flaps, camera("door", "bath", { at: 90 * MINUTE })])).toHaveLength(1);
    expect(titles([camera("door", "bath"), later])).toHaveLength(1);
    expect(titles([camera("door", "bath"), episode("location", "bath"), later])).toHaveLength(1);
    expect(titles([camera("door", "bath", { forMs: 50 * MINUTE }), later])).toHaveLength(2);
  });

  it("two cameras that fail at once in different shops are two incidents; the service is one of its own", () => {
    const apart = [camera("a", "bath"), camera("b", "norwich", { at: 1_000 }), episode("service", "analytics")];
    expect(titles(apart).sort()).toEqual([
      "Analytics service: service unreachable",
      "Camera a · Bath: offline",
      "Camera b · Norwich: offline",
    ]);
  });

  it("a camera whose quality was low for weeks is offline in an incident of its own; quality that goes minutes before is of it", () => {
    const low = (at: number) =>
      camera("door", "bath", { at, problem: "low_quality", id: `LowQuality/door@${T0 + at}` });
    expect(titles([low(-20 * 24 * 60 * MINUTE), camera("door", "bath")])).toHaveLength(2);
    expect(titles([low(-6 * MINUTE), camera("door", "bath")])).toEqual(["Entrance · Bath: quality low, offline"]);
  });
});

it.each([
  [matchersFor("location_id", ["bath"]), "Bath"],
  [matchersFor("location_id", ["bath", "l.a", "norwich"]), "Bath, Shop l.a and Norwich"],
  [
    matchersFor(
      "location_id",
      Array.from({ length: 20 }, (_, i) => `${i}`),
    ),
    "Shop 0, Shop 1, Shop 10, Shop 11, Shop 12, Shop 13, Shop 14, Shop 15 and 12 more",
  ],
  [['location_id=~"norwich|bath"', 'severity="critical"'], 'Norwich and Bath, severity="critical"'],
  [['location_id=~"bat.|norwich"'], 'location_id=~"bat.|norwich"'],
  [['location_id=~"bath|"'], 'location_id=~"bath|"'],
  [['location_id!="bath"'], 'location_id!="bath"'],
  [['location_id=~"bath|nowhere"'], 'location_id=~"bath|nowhere"'],
])("the matchers %s are %s in words", (matchers, words) => {
  const location = (id: string) => (id === "nowhere" ? undefined : names.location(id));
  expect(matchersInWords(parseMatchers(matchers.join(", ")), { ...names, location })).toBe(words);
});

const someEpisode = fc
  .record({
    kind: fc.constantFrom("recording", "recording", "recording", "location", "group"),
    i: fc.nat(11),
    at: fc.integer({ min: 0, max: 400 }),
    minutes: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
    problem: fc.constantFrom("offline", "offline", "low_quality"),
  })
  .map(({ kind, i, at, minutes, problem }) => {
    const told = {
      at: at * MINUTE,
      ...(minutes === undefined ? {} : { forMs: minutes * MINUTE }),
      server: `e${i % 3}`,
    };
    if (kind === "location") return episode(kind, `${i % 4}`, { ...told, offline: 3 });
    if (kind === "group") return episode(kind, `camera_server/e${i % 3}`, { ...told, offline: 4 });
    return camera(`c${i}`, `${i % 4}`, { ...told, problem: problem as "offline", id: `${problem}/c${i}@${at}` });
  });
const someEpisodes = fc.uniqueArray(someEpisode, { maxLength: 40, size: "max", selector: ({ id }) => id });

it("the latest acknowledgement of what fires says who has an incident", () => {
  const ack = (author: string, at: number) => ({ author, comment: "", at });
  const acks = new Map([
    ["a", ack("amy", 2)],
    ["b", ack("ben", 3)],
    ["over", ack("lee", 4)],
  ]);
  expect(latestOf([{ id: "a" }, { id: "b" }, { id: "c" }, { id: "over", endsAt: 5 }], acks)?.author).toBe("ben");
});

describe("of any episodes", () => {
  it("each is in one incident, whatever their order", () => {
    fc.assert(
      fc.property(someEpisodes, fc.infiniteStream(fc.nat()), (episodes, keys) => {
        const shuffled = episodes.map((one) => ({ one, key: keys.next().value ?? 0 })).sort((a, b) => a.key - b.key);
        const incidents = incidentsOf(episodes);
        expect(incidentsOf(shuffled.map(({ one }) => one))).toEqual(incidents);
        const ids = incidents.flatMap((one) => one.episodes.map(({ id }) => id));
        expect(ids.toSorted()).toEqual(episodes.map(({ id }) => id).sort());
      }),
    );
  });

  it("every id that an incident had is found when more is known", () => {
    fc.assert(
      fc.property(someEpisodes, (episodes) => {
        const all = incidentsOf(episodes);
        for (const { startsAt: now } of episodes) {
          const known = episodes.filter(({ startsAt }) => startsAt <= now);
          const then = known.map((one) => (one.endsAt && one.endsAt > now ? { ...one, endsAt: undefined } : one));
          for (const { id, episodes: had } of incidentsOf(then)) {
            const found = findIncident(all, id.toLowerCase())?.episodes.map((one) => one.id);
            expect(had.some((one) => found?.includes(one.id))).toBe(true);
          }
        }
      }),
    );
  });

  it("no title has more cameras than there are, or none, and one that fires is open", () => {
    fc.assert(
      fc.property(someEpisodes, (episodes) => {
        for (const incident of incidentsOf(episodes)) {
          const recordings = new Set(
            incident.episodes.flatMap(({ subject }) => (subject.kind === "recording" ? subject.id : [])),
          );
          const { recordings: counted, locations } = sizeOfIncident(incident);
          expect(counted).toBeLessThanOrEqual(recordings.size + 3 * locations.size + 4 * 3);
          expect(incident.endsAt === undefined).toBe(incident.episodes.some(({ endsAt }) => endsAt === undefined));
          expect(incidentTitle(incident, names)).not.toMatch(/\b0 (?:camera|location)|No alert/);
        }
      }),
    );
  });

  it("a wider alert takes in what goes offline in it", () => {
    fc.assert(
      fc.property(someEpisodes, (episodes) => {
        const incidents = incidentsOf(episodes);
        const of = (one: Episode) => incidents.find((incident) => incident.episodes.includes(one))?.id;
        for (const wide of episodes.filter(({ subject }) => subject.kind === "location")) {
          for (const one of episodes) {
            if (one.subject.kind !== "recording" || one.problem !== "offline") continue;
            if (labelIn(one, "location_id") !== wide.subject.id) continue;
            if (one.startsAt < wide.startsAt || one.startsAt > (wide.endsAt ?? Infinity)) continue;
            expect(of(one)).toBe(of(wide));
          }
        }
      }),
    );
  });

  it("an incident lasts for the minutes in which something of it is offline", () => {
    fc.assert(
      fc.property(someEpisodes, (episodes) => {
        for (const incident of incidentsOf(episodes)) {
          const outages = incident.episodes.filter(({ problem }) => problem !== "low_quality");
          if (outages.length === 0 || (!outages.some(isOpen) && incident.episodes.some(isOpen))) continue;
          const minutes = Array.from({ length: 700 }, (_, i) => T0 + i * MINUTE);
          const down = minutes.filter((at) =>
            outages.some((one) => one.startsAt <= at && at < (one.endsAt ?? Infinity)),
          );
          expect(durationOf(incident, T0 + 700 * MINUTE)).toBe(down.length * MINUTE);
        }
      }),
    );
  });
});

/** Outages of four cameras and the whole of one location, none of which begins within two minutes of another. */
const oneLocation = fc
  .tuple(
    ...[0, 1, 2, 3, 4].map((i) =>
      fc
        .tuple(
          fc.uniqueArray(fc.nat(15), { maxLength: 8, size: "max" }),
          fc.array(fc.double({ min: 0.1, max: 0.9, noNaN: true }), { minLength: 8, maxLength: 8, size: "max" }),
        )
        .map(([turns, shares]) => {
          const starts = turns.toSorted((a, b) => a - b).map((turn) => turn * 15 + i * 3);
          return starts.map((at, n) => {
            const told = { at: at * MINUTE, forMs: (shares[n] ?? 0.5) * ((starts[n + 1] ?? 250) - at) * MINUTE };
            return i === 4 ? episode("location", "bath", { ...told, offline: 4 }) : camera(`c${i}`, "bath", told);
          });
        }),
    ),
  )
  .map((all) => all.flat());

describe("of any outages at one location", () => {
  it("those of its cameras are in one of the whole if they last during it, and not if they end before", () => {
    fc.assert(
      fc.property(oneLocation, (episodes) => {
        const isWhole = ({ subject }: Episode) => subject.kind === "location";
        for (const incident of incidentsOf(episodes)) {
          const [first] = incident.episodes.filter(isWhole);
          for (const { subject, startsAt, endsAt = Infinity } of incident.episodes) {
            const during = episodes.filter(
              (one) => isWhole(one) && one.startsAt <= endsAt && startsAt <= (one.endsAt ?? Infinity),
            );
            if (first) expect(during, `${subject.id} at ${(startsAt - T0) / MINUTE}`).not.toEqual([]);
            else expect(during.filter((one) => one.startsAt <= startsAt + 30 * MINUTE)).toEqual([]);
            if (first) expect(incident.startsAt).toBeGreaterThanOrEqual(first.startsAt - 30 * MINUTE);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
