/**
 * Inhibition, Alertmanager's: an alert is held while another fires that explains it. `equal` labels have to be equal,
 * both missing included; an alert that matches both sides of a rule is not held by another that does too. One hop is
 * enough: what is held stays true, and is judged again when its source ends. That lenswatch is blind says nothing of
 * alerts from outside, so that alerts about the service hold none of those.
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

/** Who holds whom among the alerts that fire. */
export interface Inhibitions {
  /** The alert that stands longest of those that hold this one; it need not fire itself. */
  inhibitor(alert: Alert): Alert | undefined;
  /** Whose alerts a firing alert holds; undefined for nobody's. */
  standsFor(alert: Alert): StandsFor | undefined;
}

/** What an alert is to one rule: the values of its `equal` labels where it can be a source, and a target. */
interface Sides {
  readonly source: string | undefined;
  readonly target: string | undefined;
}

/** The sources of a rule with the same `equal` labels: the one standing longest, and of those that are no targets. */
interface Sources {
  readonly first: Alert;
  readonly oneSided: Alert | undefined;
}

/** How many are named of those an alert stands for. */
const NAMED = 12;

/** Before the key of a target that came from outside. */
const OUTSIDE = "outside ";

/** Gives `index(firing)`. What an alert is to the rules is found once: its labels are frozen. */
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

/** The keys of those an alert can hold; none where it is no source. */
function reachOf({ subject }: Alert, source: string | undefined): string[] {
  if (source === undefined) return [];
  return subject.kind === "service" ? [source] : [source, OUTSIDE + source];
}

function sidesIn(
  { sourceMatchers, targetMatchers, equal }: InhibitRule,
  { labels, subject }: Pick<Alert, "labels" | "subject">,
): Sides {
  const isSource = matchesAll(sourceMatchers, labels);
  const isTarget = matchesAll(targetMatchers, labels);
  if (!isSource && !isTarget) return { source: undefined, target: undefined };
  const key = JSON.stringify(equal.map((name) => (Object.hasOwn(labels, name) ? labels[name] : "")));
  const targetKey = subject.kind === "external" ? OUTSIDE + key : key;
  return { source: isSource ? key : undefined, target: isTarget ? targetKey : undefined };
}

function addSource(
  sources: Map<string, Sources> | undefined,
  key: string,
  alert: Alert,
  isTwoSided: boolean,
): void {
  const here = sources?.get(key);
  const longer = (a: Alert | undefined) => (a && isLonger(a, alert) ? a : alert);
  sources?.set(key, {
    first: longer(here?.first),
    oneSided: isTwoSided ? here?.oneSided : longer(here?.oneSided),
  });
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
