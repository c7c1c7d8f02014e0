/**
 * What really happens: every incident with its cause, its scope and its effect on each recording. An incident is one
 * cause, as whoever is on call would open one ticket for it. Nothing here knows how lenswatch evaluates.
 */
import type { Instant } from "../../src/lib/clock.ts";
import { DAY, type Fleet, HOUR, MINUTE, type Site, type YearRecording } from "./fleet.ts";
import type { Mix, Range } from "./mix.ts";
import { createYearRandom, type YearRandom } from "./random.ts";

export type IncidentKind = Exclude<keyof Mix, "fleet" | "locationsPerRequest">;

/** What an incident does to one recording for a time. `value`: the quality or uptime meanwhile. */
export interface Effect extends Range {
  readonly incident: Incident;
  readonly recording: YearRecording;
  readonly what: "offline" | "degraded" | "missing" | "low_quality" | "low_uptime";
  readonly value: number;
}

export interface Incident extends Range {
  readonly id: number;
  readonly kind: IncidentKind;
  readonly effects: readonly Effect[];
  /** Silenced for its site, from before it begins until after it ends. */
  readonly silenced: Site | undefined;
  /** When the service does not answer for these shards. */
  readonly failing: readonly { readonly from: Instant; readonly to: Instant; readonly shards: ReadonlySet<number> }[];
}

/** Times at which a silence begins before maintenance, and ends after it. */
export const SILENCE_MARGIN = 10 * MINUTE;
const ANSWERS_FOR = 90_000;
/** Only a flap that is seen belongs to a cable: shorter spans than this do not exist. */
const SHORTEST = 5_000;

/** Every incident of the span, in order of time. */
export function createLedger(mix: Mix, fleet: Fleet, seed: number): Incident[] {
  const years = (fleet.span.to - fleet.span.from) / (365 * DAY);
  const span = { from: fleet.span.from + 10 * MINUTE, to: fleet.span.to - DAY };
  const made: Incident[] = [];
  const write = { mix, fleet, seed, span, years, made };
  outagesOfSites(write);
  outagesOfGroups(write);
  troubleOfRecordings(write);
  troubleOfService(write);
  return made.sort((a, b) => a.from - b.from || a.id - b.id);
}

interface Writer {
  readonly mix: Mix;
  readonly fleet: Fleet;
  readonly seed: number;
  readonly span: Range;
  readonly years: number;
  readonly made: Incident[];
}

type Part = Pick<Effect, "recording" | "from" | "to" | "what"> & { readonly value?: number };

function add({ made, fleet }: Writer, kind: IncidentKind, parts: readonly Part[], more: Partial<Incident> = {}): void {
  const effects: Effect[] = [];
  const all = parts.filter(({ from, to }) => to - from >= SHORTEST && from < fleet.span.to);
  const from = Math.min(...all.map((one) => one.from), ...(more.failing ?? []).map((one) => one.from));
  const to = Math.max(...all.map((one) => one.to), ...(more.failing ?? []).map((one) => one.to));
  if (!Number.isFinite(from)) return;
  const incident: Incident = {
    id: made.length,
    kind,
    from,
    to: Math.min(to, fleet.span.to),
    effects,
    silenced: undefined,
    failing: [],
    ...more,
  };
  for (const { value = 1, ...part } of all)
    effects.push({ incident, ...part, to: Math.min(part.to, fleet.span.to), value });
  made.push(incident);
}

/** All of these go offline within the skew, and come back one by one. */
function offline(
  random: YearRandom,
  recordings: readonly YearRecording[],
  times: Range,
  mix: Mix,
  returns: Range,
): Part[] {
  return recordings.map((recording, i) => ({
    recording,
    from: times.from + Math.round(random.between(mix.fleet.skew)),
    to: times.to + (i === 0 ? 0 : Math.round(random.between(returns))),
    what: "offline",
  }));
}

function outagesOfSites(writer: Writer): void {
  const { mix, fleet, seed, span, years } = writer;
  for (const kind of ["routerRestarts", "powerCuts"] as const) {
    const random = createYearRandom(seed, kind);
    const { rate, lasts, returns } = mix[kind];
    for (const site of fleet.sites)
      for (const from of random.moments(span, rate * years))
        add(writer, kind, offline(random, site.recordings, { from, to: from + random.length(lasts) }, mix, returns));
  }
  const random = createYearRandom(seed, "nightMaintenance");
  const { rate, begins, lasts, silenced } = mix.nightMaintenance;
  for (const site of fleet.sites) {
    for (const moment of random.moments(span, rate * years)) {
      const from = moment - (moment % DAY) + random.whole(begins) * HOUR;
      const times = { from, to: from + random.length(lasts) };
      const parts = offline(random, site.recordings, times, mix, { from: 0, to: MINUTE });
      if (from > span.from)
        add(writer, "nightMaintenance", parts, { silenced: random.chance(silenced) ? site : undefined });
    }
  }
}

/** Of camera servers and of regions. */
function outagesOfGroups(writer: Writer): void {
  const { mix, fleet, seed, span, years } = writer;
  const groups = {
    serverOutages: Map.groupBy(fleet.recordings, ({ cameraServer }) => cameraServer),
    regionOutages: Map.groupBy(fleet.recordings, ({ site }) => site.region),
  };
  for (const kind of ["serverOutages", "regionOutages"] as const) {
    const random = createYearRandom(seed, kind);
    const { rate, lasts, returns } = mix[kind];
    for (const recordings of groups[kind].values())
      for (const from of random.moments(span, rate * years))
        add(writer, kind, offline(random, recordings, { from, to: from + random.length(lasts) }, mix, returns));
  }
}

const plain = {
  cameraFailures: "offline",
  cameraDropouts: "offline",
  degradedPhases: "degraded",
  missingRows: "missing",
} as const;

function troubleOfRecordings(writer: Writer): void {
  const { mix, fleet, seed, span, years } = writer;
  for (const recording of fleet.recordings) {
    const random = createYearRandom(seed, recording.id);
    const each = (kind: IncidentKind & keyof Mix, rate: number, lasts: Range, parts: (times: Range) => Part[]) => {
      for (const from of random.moments(span, rate * years))
        add(writer, kind, parts({ from, to: from + random.length(lasts) }));
    };
    for (const [name, what] of Object.entries(plain)) {
      const kind = name as keyof typeof plain;
      each(kind, mix[kind].rate, mix[kind].lasts, (times) => [{ recording, ...times, what }]);
    }
    for (const kind of ["flappingCables", "rebootLoops"] as const) {
      const { rate, lasts, offline: off, online: on } = mix[kind];
      each(kind, rate, lasts, (times) => [...flaps(random, recording, times, off, on)]);
    }
    const { lowQuality, lossyUploads } = mix;
    each("lowQuality", lowQuality.rate, lowQuality.lasts, (times) => [
      { recording, ...times, what: "low_quality", value: random.between(lowQuality.quality) },
    ]);
    each("lossyUploads", lossyUploads.rate, lossyUploads.lasts, (times) => [
      { recording, ...times, what: "low_uptime", value: random.between(lossyUploads.uptime) },
    ]);
  }
}

function* flaps(random: YearRandom, recording: YearRecording, times: Range, off: Range, on: Range): Generator<Part> {
  for (let at = times.from; at < times.to; ) {
    const to = Math.min(times.to, at + Math.round(random.between(off)));
    yield { recording, from: at, to, what: "offline" };
    at = to + Math.round(random.between(on));
  }
}

function troubleOfService(writer: Writer): void {
  const { mix, fleet, seed, span, years } = writer;
  const random = createYearRandom(seed, "service");
  const all = Array.from({ length: fleet.shards }, (_, i) => i);
  const { serviceOutages, servicePartly } = mix;
  for (const from of random.moments(span, serviceOutages.rate * years)) {
    const to = from + random.length(serviceOutages.lasts);
    const answers = [...random.moments({ from, to }, (serviceOutages.answers * (to - from)) / HOUR)];
    const shards = new Set(all);
    const ends = [...answers, to];
    const failing = ends.map((end, i) => ({
      from: i === 0 ? from : (answers[i - 1] ?? from) + ANSWERS_FOR,
      to: end,
      shards,
    }));
    add(writer, "serviceOutages", [], { failing: failing.filter((one) => one.to > one.from) });
  }
  for (const from of random.moments(span, servicePartly.rate * years)) {
    const to = from + random.length(servicePartly.lasts);
    const share = random.between(servicePartly.shards);
    const shards = new Set(all.filter(() => random.chance(share)));
    if (shards.size > 0 && shards.size < all.length)
      add(writer, "servicePartly", [], { failing: [{ from, to, shards }] });
  }
}
