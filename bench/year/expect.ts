/**
 * Which incidents somebody has to be notified of, and why the others need not be: from the ledger, the schedules and
 * the rules' durations alone.
 */
import type { Rule } from "../../src/health/model.ts";
import type { Failing } from "./failing.ts";
import { type Fleet, MINUTE, type Site, type YearRecording } from "./fleet.ts";
import { type Effect, type Incident, SILENCE_MARGIN } from "./ledger.ts";
import type { Range } from "./mix.ts";
import { longest, without } from "./spans.ts";
import { type Figure, figuresOf } from "./timeline.ts";

/** Why an incident need not be notified. */
export const excuses = [
  "no_rule",
  "shorter_than_for",
  "outside_schedule",
  "changes_too_rarely",
  "uptime_above_threshold",
  "service_did_not_answer",
  "part_of_another",
  "silenced",
  "muted",
] as const;
export type Excuse = (typeof excuses)[number];

export interface Expectation {
  readonly incident: Incident;
  /** Undefined: it has to be notified. */
  readonly excuse: Excuse | undefined;
  /** The rules of which any has to notify it; where none has to, those that may. */
  readonly rules: readonly Rule[];
  /** The sites at which it has to be notified; none of an incident of the service. */
  readonly sites: readonly Site[];
}

interface Facts {
  readonly rules: readonly Rule[];
  readonly fleet: Fleet;
  readonly intervalMs: number;
  readonly groupWaitMs: number;
  readonly failing: Failing;
  readonly effects: ReadonlyMap<YearRecording, readonly Effect[]>;
  readonly silences: ReadonlyMap<Site, readonly Range[]>;
}

/** A time that is sampled at intervals is noticed up to one later; so is its end. */
const SAMPLING = 1_000;

export function expectationsOf(
  ledger: readonly Incident[],
  given: Pick<Facts, "fleet" | "rules" | "intervalMs" | "groupWaitMs" | "failing">,
): Expectation[] {
  const silenced = ledger.flatMap(({ silenced: site, from, to }) => (site ? [{ site, from, to }] : []));
  const facts: Facts = {
    ...given,
    effects: Map.groupBy(
      ledger.flatMap(({ effects }) => effects),
      ({ recording }) => recording,
    ),
    silences: new Map(
      [...Map.groupBy(silenced, ({ site }) => site)].map(([site, spans]) => [
        site,
        spans.map(({ from, to }) => ({ from: from - SILENCE_MARGIN, to: to + SILENCE_MARGIN })),
      ]),
    ),
  };
  return ledger.map((incident) => {
    const own = given.rules.filter(({ when }) => watches(when, incident));
    const bySite = Map.groupBy(incident.effects, ({ recording }) => recording.site);
    const at = (site: Site) => ({ ...incident, effects: bySite.get(site) ?? [] });
    const excuseAt = (site: Site) => excuseFor(own, at(site), facts);
    const sites = [...bySite.keys()].filter((site) => !excuseAt(site));
    const owing = own.filter((rule) => sites.some((site) => !excuseOf(rule, at(site), facts)));
    const excuse = sites.length > 0 ? undefined : excuseFor(own, incident, facts);
    return { incident, rules: owing.length > 0 ? owing : own, excuse, sites };
  });
}

function excuseFor(rules: readonly Rule[], incident: Incident, facts: Facts): Excuse | undefined {
  if (rules.length === 0) return "no_rule";
  return least(rules.map((rule) => excuseOf(rule, incident, facts)));
}

function watches(when: Rule["when"], { kind, effects }: Incident): boolean {
  const what = effects[0]?.what;
  switch (when.kind) {
    case "status":
      return what === when.status;
    case "location_offline":
      return what === "offline" && effects.length > 1;
    case "flapping":
      return kind === "flappingCables" || kind === "rebootLoops";
    case "overall_uptime":
      return what === "low_uptime";
    case "average_quality":
      return what === "low_quality";
    case "missing":
      return what === "missing";
    case "service":
      return kind === (when.state === "unreachable" ? "serviceOutages" : "servicePartly");
    default:
      return false;
  }
}

function excuseOf(rule: Rule, incident: Incident, facts: Facts): Excuse | undefined {
  // An alert that resolves within group_wait is not sent.
  const waitMs = Math.max(0, facts.groupWaitMs - rule.keepFiringForMs);
  const needed = rule.forMs + facts.intervalMs + waitMs + SAMPLING;
  const { when } = rule;
  if (when.kind === "service") {
    return longest(incident.failing) > needed + 2 * facts.intervalMs ? undefined : "shorter_than_for";
  }
  if (when.kind === "location_offline")
    return least(
      [...Map.groupBy(incident.effects, ({ recording }) => recording.site)].map(([site, effects]) =>
        excuseOfSite(site, effects, needed, facts),
      ),
    );
  if (when.kind === "flapping") return excuseOfFlapping(incident, when.high, facts);
  if (when.kind === "overall_uptime") return excuseOfUptime(incident, when, facts);
  return least(incident.effects.map((effect) => excuseOfSpan(effect, effect.recording, needed, facts)));
}

/** The one that is nearest to none. */
function least(all: readonly (Excuse | undefined)[]): Excuse | undefined {
  if (all.includes(undefined)) return undefined;
  return excuses[Math.max(0, ...all.map((one) => (one ? excuses.indexOf(one) : 0)))];
}

/** Cut by what hides it, one cause after the other, until too little is left. */
function excuseOfSpan(effect: Effect, recording: YearRecording, needed: number, facts: Facts): Excuse | undefined {
  const { site } = recording;
  let left: Range[] = [effect];
  const isShort = (cuts: readonly Range[]) => {
    left = without(left, cuts);
    return longest(left) < needed;
  };
  if (isShort([])) return "shorter_than_for";
  if (isShort(site.hours?.closed ?? [])) return "outside_schedule";
  if (isShort(facts.failing.of(site.shard))) return "service_did_not_answer";
  if (isShort(hiding(effect, recording, facts))) return "part_of_another";
  return isShort(facts.silences.get(site) ?? []) ? "silenced" : undefined;
}

/** What a recording that is offline or missing hides of its other troubles, or began earlier of the same. */
function hiding({ incident, what }: Effect, recording: YearRecording, { effects, rules }: Facts): Range[] {
  const others = (effects.get(recording) ?? []).filter((one) => one.incident !== incident);
  const flaps = rules.some(({ when }) => when.kind === "flapping" && watches(when, incident));
  // An alert that it flaps inhibits those that it is offline.
  const flapping = flaps ? [{ from: incident.from + SURELY_NOT_FLAPPING, to: incident.to }] : [];
  const hidden = others.filter((one) => {
    if (one.what === "offline" || one.what === "missing")
      return what !== "offline" || one.what === "missing" || isEarlier(one.incident, incident);
    return one.what === what && isEarlier(one.incident, incident);
  });
  return [...hidden, ...flapping];
}

function isEarlier(a: Incident, b: Incident): boolean {
  return a.from < b.from || (a.from === b.from && a.id < b.id);
}

/** While all recordings of the site are offline. */
function excuseOfSite(site: Site, effects: readonly Effect[], needed: number, facts: Facts): Excuse | undefined {
  const [first] = effects;
  if (
    !first ||
    site.recordings.length < 2 ||
    new Set(effects.map(({ recording }) => recording)).size < site.recordings.length
  )
    return "shorter_than_for";
  const all = {
    ...first,
    from: Math.max(...effects.map(({ from }) => from)),
    to: Math.min(...effects.map(({ to }) => to)),
  };
  if (all.to <= all.from) return "shorter_than_for";
  return least(site.recordings.map((recording) => excuseOfSpan(all, recording, needed, facts)));
}

/** So long after its beginning a recording cannot have changed often enough yet. */
const SURELY_NOT_FLAPPING = 5 * MINUTE;
/** As many changes in a row as flapping needs, with some to spare. */
const FLAPPING_FOR = 45 * MINUTE;
const SPARE = 1.3;

function excuseOfFlapping(incident: Incident, high: number, facts: Facts): Excuse | undefined {
  const [first] = incident.effects;
  if (!first) return "shorter_than_for";
  const whole = { ...first, from: incident.from, to: incident.to };
  const excuse = excuseOfSpan(whole, first.recording, FLAPPING_FOR, { ...facts, rules: [] });
  if (excuse) return excuse;
  const edges = incident.effects
    .filter(({ from, to }) => to - from >= facts.intervalMs)
    .flatMap(({ from, to }) => [from, to]);
  const changed = new Set(edges.map((at) => Math.floor(at / MINUTE))).size;
  const minutes = (incident.to - incident.from) / MINUTE;
  return changed / minutes >= high * SPARE ? undefined : "changes_too_rarely";
}

function excuseOfUptime(
  incident: Incident,
  when: { readonly below: number; readonly overMs: number },
  facts: Facts,
): Excuse | undefined {
  const [first] = incident.effects;
  if (!first) return "shorter_than_for";
  const { recording } = first;
  const own = facts.effects.get(recording) ?? [];
  const lowAlone = lowSpans(figuresOf(recording.site, [first], facts.fleet.span, when.overMs), when.below);
  if (lowAlone.length === 0) return "uptime_above_threshold";
  const lowBefore = lowSpans(
    figuresOf(
      recording.site,
      own.filter((one) => isEarlier(one.incident, incident)),
      facts.fleet.span,
      when.overMs,
    ),
    when.below,
  );
  let left = without(lowAlone, recording.site.hours?.closed ?? []);
  if (longest(left) < 2 * facts.intervalMs) return "outside_schedule";
  left = without(left, facts.failing.of(recording.site.shard));
  if (longest(left) < 2 * facts.intervalMs) return "service_did_not_answer";
  // An offline or missing recording inhibits it.
  left = without(left, [...lowBefore, ...hiding(first, recording, facts)]);
  if (longest(left) < 5 * MINUTE) return "part_of_another";
  left = without(left, facts.silences.get(recording.site) ?? []);
  return longest(left) < 5 * MINUTE ? "silenced" : undefined;
}

function lowSpans(figures: readonly Figure[], below: number): Range[] {
  return figures.flatMap(({ at, uptime }, i) => {
    if (uptime === undefined || uptime >= below) return [];
    return [{ from: at, to: figures[i + 1]?.at ?? at + MINUTE }];
  });
}
