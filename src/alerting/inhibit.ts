/**
 * Inhibition, Alertmanager's: an alert is inhibited while another one fires that explains it. `equal` labels have to be
 * equal, both missing included; an alert that matches both sides of a rule is not inhibited by another that does too.
 * Alerts about the service inhibit no external alerts: an unreachable service says nothing about those.
 */
import type { Alert } from "../health/alert.ts";
import { matchesAll } from "./matcher.ts";
import type { StandsFor } from "./notification.ts";
import type { Matcher } from "./route.ts";

export interface InhibitRule {
  readonly sourceMatchers: readonly Matcher[];
  readonly targetMatchers: readonly Matcher[];
  /** Label names. */
  readonly equal: readonly string[];
}

/** Which firing alert inhibits which. */
export interface Inhibitions {
  /** Of the alerts that inhibit this one, which need not fire itself, the one that fires longest. */
  inhibitor(alert: Alert): Alert | undefined;
  /** The alerts that a firing alert inhibits; undefined for none. */
  standsFor(alert: Alert): StandsFor | undefined;
}

/** What an alert is to one rule: the values of its `equal` labels where it can be a source, and a target. */
type Sides = { readonly source: string | undefined; readonly target: string | undefined };

/** The sources of a rule with the same `equal` labels: the one firing longest, and that of those that are no targets. */
type Sources = { readonly first: Alert; readonly oneSided: Alert | undefined };

const NAMED = 12;

/** Before the key of a target that is an external alert. */
const EXTERNAL = "external ";

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
    sidesOf(alert).forEach(({ source, target }, i) => {
      for (const key of reachOf(alert, source)) addSource(sources[i], key, alert, target !== undefined);
      if (target !== undefined) addTarget(targets[i], target, alert);
    });
  }
  return {
    inhibitor(alert) {
      const found = sidesOf(alert).flatMap(({ source, target }, i) => {
        const here = target === undefined ? undefined : sources[i]?.get(target);
        return (source === undefined ? here?.first : here?.oneSided) ?? [];
      });
      return found.reduce<Alert | undefined>((a, b) => (a && isLonger(a, b) ? a : b), undefined);
    },
    standsFor(alert) {
      const suppressed = new Set<Alert>();
      sidesOf(alert).forEach(({ source, target }, i) => {
        for (const child of reachOf(alert, source).flatMap((key) => targets[i]?.get(key) ?? [])) {
          const twoSided = target !== undefined && sidesOf(child)[i]?.source !== undefined;
          if (!twoSided && child.id !== alert.id) suppressed.add(child);
        }
      });
      return suppressed.size === 0 ? undefined : summaryOf([...suppressed]);
    },
  };
}

/** The keys of the targets an alert can inhibit; none where it is no source. */
function reachOf({ subject }: Alert, source: string | undefined): string[] {
  if (source === undefined) return [];
  return subject.kind === "service" ? [source] : [source, EXTERNAL + source];
}

function sidesIn(
  { sourceMatchers, targetMatchers, equal }: InhibitRule,
  { labels, subject }: Pick<Alert, "labels" | "subject">,
): Sides {
  const isSource = matchesAll(sourceMatchers, labels);
  const isTarget = matchesAll(targetMatchers, labels);
  if (!isSource && !isTarget) return { source: undefined, target: undefined };
  const key = JSON.stringify(equal.map((name) => (Object.hasOwn(labels, name) ? labels[name] : "")));
  const targetKey = subject.kind === "external" ? EXTERNAL + key : key;
  return { source: isSource ? key : undefined, target: isTarget ? targetKey : undefined };
}

function addSource(sources: Map<string, Sources> | undefined, key: string, alert: Alert, isTwoSided: boolean): void {
  const here = sources?.get(key);
  const longer = (a: Alert | undefined) => (a && isLonger(a, alert) ? a : alert);
  sources?.set(key, { first: longer(here?.first), oneSided: isTwoSided ? here?.oneSided : longer(here?.oneSided) });
}

function addTarget(targets: Map<string, Alert[]> | undefined, key: string, alert: Alert): void {
  const here = targets?.get(key);
  if (here) here.push(alert);
  else targets?.set(key, [alert]);
}

function isLonger(a: Alert, b: Alert): boolean {
  return a.startsAt < b.startsAt || (a.startsAt === b.startsAt && a.id < b.id);
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
