/**
 * Inhibition, Alertmanager's: an alert is inhibited while another one fires that explains it. `equal` labels have to be
 * equal, both missing included; an alert that matches both sides of a rule is not inhibited by another that does too.
 * Unlike there, two alerts never inhibit each other: of two rules that would have it so, the first one applies.
 * Alerts about the service inhibit no external alerts: an unreachable service says nothing about those. External alerts
 * inhibit lenswatch's own only by a rule that says so: a client that posts alerts could suppress any other. A location or
 * group whose alert is inhibited by that of another one inhibits nothing outside of that: labels are frozen, and since
 * then recordings of another camera server may have come to the location.
 */
import { type Alert, scopeOf } from "../health/alert.ts";
import { own } from "../lib/own.ts";
import { compareText } from "../lib/text.ts";
import { type Matcher, matchesAll } from "./matcher.ts";
import type { StandsFor, Suppression } from "./model.ts";
import { matchesAny, type Viewed, viewsOf } from "./views.ts";

export interface InhibitRule {
  readonly sourceMatchers: readonly Matcher[];
  readonly targetMatchers: readonly Matcher[];
  /** Label names. */
  readonly equal: readonly string[];
  /** External alerts inhibit lenswatch's own by it, too. */
  readonly externalSources?: boolean;
}

/** Which firing alert inhibits which. */
export interface Inhibitions {
  /** The alert that inhibits this one, which need not fire itself; of several the one that fires longest. */
  inhibitor(alert: Alert): Alert | undefined;
  /** The alerts that a firing alert inhibits; undefined for none. */
  standsFor(alert: Alert): StandsFor | undefined;
}

/** The sides of an alert in one rule: the keys of the targets it can inhibit, and its own where it can be a target. */
type Sides = { readonly reach: readonly string[]; readonly target: string | undefined };

/** The sources of a rule with the same `equal` labels, the one firing longest first, and those that are no targets. */
type Sources = { readonly all: Alert[]; readonly oneSided: Alert[] };

const NAMED = 12;
/** The number of sources tried: one of so many inhibits an alert that does not inhibit all of them itself. */
const SOURCES_TRIED = 100;

/** Before the key of a target that is an external alert. */
const EXTERNAL = "external ";
/** No key: those are JSON. */
const NOWHERE = "";

/** Gives `index(firing)`. Matching an alert against the rules is done once: its labels are frozen. */
export function createInhibitor(rules: readonly InhibitRule[]): (firing: readonly Alert[]) => Inhibitions {
  const known = new WeakMap<Alert, readonly Sides[]>();
  const sidesOf = (alert: Alert): readonly Sides[] => {
    const sides = known.get(alert) ?? rules.map((rule) => sidesIn(rule, alert));
    known.set(alert, sides);
    return sides;
  };
  return (firing) => index(rules, firing, sidesOf);
}

function index(
  rules: readonly InhibitRule[],
  firing: readonly Alert[],
  sidesOf: (alert: Alert) => readonly Sides[],
): Inhibitions {
  const sources = rules.map(() => new Map<string, Sources>());
  const targets = rules.map(() => new Map<string, Alert[]>());
  for (const alert of firing) {
    sidesOf(alert).forEach(({ reach, target }, i) => {
      for (const key of reach) addSource(sources[i], key, alert, target !== undefined);
      if (target !== undefined) addTarget(targets[i], target, alert);
    });
  }
  for (const byKey of sources)
    for (const { all, oneSided } of byKey.values()) for (const some of [all, oneSided]) some.sort(byLength);
  /** True if a rule before this one has the source inhibited by its target. */
  const isReversed = (source: Alert, target: Alert, rule: number) => {
    const [above, below] = [sidesOf(target), sidesOf(source)];
    return above.slice(0, rule).some(({ reach }, i) => reach.includes(below[i]?.target ?? NOWHERE));
  };
  const inhibitorOf = (alert: Alert, isOutside: (source: Alert, alert: Alert) => boolean = () => false) => {
    const found = sidesOf(alert).flatMap(({ reach, target }, i) => {
      const here = target === undefined ? undefined : sources[i]?.get(target);
      const some = reach.length === 0 ? here?.all : here?.oneSided;
      return some?.slice(0, SOURCES_TRIED).find((one) => !isReversed(one, alert, i) && !isOutside(one, alert)) ?? [];
    });
    return found.reduce<Alert | undefined>((a, b) => (a && byLength(a, b) <= 0 ? a : b), undefined);
  };
  const wider = new Map<Alert, ReturnType<typeof scopeOf>>();
  const isOutside = (source: Alert, { labels }: Alert) => {
    if (!scopeOf(source.subject)) return false;
    if (!wider.has(source)) wider.set(source, scopeOf(inhibitorOf(source)?.subject));
    const scope = wider.get(source);
    return scope !== undefined && (labels[scope.label] ?? scope.value) !== scope.value;
  };
  return {
    inhibitor: (alert) => inhibitorOf(alert, isOutside),
    standsFor(alert) {
      const suppressed = new Set<Alert>();
      sidesOf(alert).forEach(({ reach, target }, i) => {
        for (const child of reach.flatMap((key) => targets[i]?.get(key) ?? [])) {
          const twoSided = target !== undefined && sidesOf(child)[i]?.reach.length !== 0;
          if (twoSided || child.id === alert.id || isReversed(alert, child, i)) continue;
          if (!isOutside(alert, child)) suppressed.add(child);
        }
      });
      return suppressed.size === 0 ? undefined : summaryOf([...suppressed]);
    },
  };
}

/** The suppression of an alert by one that fires. Alerts about the service say nothing of outages. */
export function inhibitionBy({ id: by, firedAt: since, subject, labels }: Alert): Suppression {
  return {
    reason: "inhibited",
    by,
    since,
    source: { subject, labels },
    ...(subject.kind === "service" && { coversNothing: true }),
  };
}

function sidesIn(rule: InhibitRule, alert: Viewed): Sides {
  const { labels, subject } = alert;
  const isSource = matchesAny(rule.sourceMatchers, alert);
  const isTarget = viewsOf(alert).every((one) => matchesAll(rule.targetMatchers, one));
  if (!isSource && !isTarget) return { reach: [], target: undefined };
  const key = JSON.stringify(rule.equal.map((name) => own(labels, name) ?? ""));
  const isExternal = subject.kind === "external";
  const ownToo = !isExternal || rule.externalSources ? [key] : [];
  const externalToo = subject.kind === "service" ? [] : [EXTERNAL + key];
  const target = isExternal ? EXTERNAL + key : key;
  return { reach: isSource ? [...ownToo, ...externalToo] : [], target: isTarget ? target : undefined };
}

function addSource(sources: Map<string, Sources> | undefined, key: string, alert: Alert, isTwoSided: boolean): void {
  const here = sources?.get(key) ?? { all: [], oneSided: [] };
  here.all.push(alert);
  if (!isTwoSided) here.oneSided.push(alert);
  sources?.set(key, here);
}

function addTarget(targets: Map<string, Alert[]> | undefined, key: string, alert: Alert): void {
  const here = targets?.get(key);
  if (here) here.push(alert);
  else targets?.set(key, [alert]);
}

function byLength(a: Alert, b: Alert): number {
  return a.startsAt - b.startsAt || compareText(a.id, b.id);
}

function summaryOf(children: readonly Alert[]): StandsFor {
  const of = (kind: "recording" | "location") =>
    new Map(
      children
        .filter(({ subject }) => subject.kind === kind)
        .map(({ subject, labels }) => [subject.id, labels[kind] || subject.id]),
    );
  const [recordings, locations] = [of("recording"), of("location")];
  const names = [...(recordings.size > 0 ? recordings : locations).values()].sort();
  return { recordings: recordings.size, locations: locations.size, names: names.slice(0, NAMED) };
}
