/** Silences that are prepared for alerts: what each of them matches follows from the alerts alone. Pure. */
import { type Alert, type SubjectKind, scopeOf, sharedOutages } from "../health/alert.ts";
import { formatMatcher, type Matcher } from "./matcher.ts";

type Silenceable = Pick<Alert, "subject" | "labels" | "facts">;
type Pair = readonly [name: string, value: string];

/** The labels that identify an alert among those of its name, by subject; an external one needs all of its labels. */
const IDENTIFYING: Readonly<Record<SubjectKind, readonly string[] | "all">> = {
  recording: ["recording_id"],
  location: ["location_id"],
  group: ["organisation", "camera_server", "location_id"],
  integration: ["receiver", "integration"],
  service: [],
  directory: [],
  external: "all",
};

/** Characters of the values in one silence: a pattern has at most 4,096. */
const PATTERN_LENGTH = 3_800;

/**
 * The matchers, as text, of a silence for this alert and its later episodes; of an outage of recordings taken together for
 * all alerts of these, which it stands for. It matches no other problem.
 */
export function matchersOf(alert: Silenceable): string {
  return silencesFor([alert])[0] ?? "";
}

/** The matchers of as few silences as match what `matchersOf` each of these alerts does; the same for any order. */
export function silencesFor(alerts: readonly Silenceable[]): string[] {
  const all = alerts.map((alert) => ({ labels: alert.labels, pairs: pairsOf(alert) }));
  // All of a location or a camera server need no silences for the alerts in it.
  const whole = new Set(all.flatMap(({ pairs: [pair, ...more] }) => (more.length > 0 ? [] : JSON.stringify(pair))));
  const isWithin = (labels: Alert["labels"]) => Object.entries(labels).some((pair) => whole.has(JSON.stringify(pair)));
  const needed = all.filter(({ labels, pairs }) => pairs.length === 1 || !isWithin(labels)).map(({ pairs }) => pairs);
  const alike = Map.groupBy(needed, (pairs) => JSON.stringify([pairs.slice(0, -1), pairs.at(-1)?.[0]]));
  const silences = alike.values().flatMap((same) => {
    const [pairs = []] = same;
    const name = pairs.at(-1)?.[0] ?? "";
    const values = new Set(same.flatMap((one) => one.at(-1)?.[1] ?? []));
    return matchersFor(name, [...values]).map((last) => [equalMatchers(pairs.slice(0, -1)), last]);
  });
  return [...silences.map((parts) => parts.filter((part) => part !== "").join(", "))].sort();
}

/** `name="value"` for each, those without a value left out. */
export function equalMatchers(labels: readonly (readonly [name: string, value: string | undefined])[]): string {
  return labels.flatMap(([name, value]) => (value ? [formatMatcher({ name, operator: "=", value })] : [])).join(", ");
}

/** Matchers for the values of a label, as many as they need. */
export function matchersFor(name: string, values: readonly string[]): string[] {
  const [value = ""] = values;
  if (values.length < 2) return values.length === 0 ? [] : [formatMatcher({ name, operator: "=", value })];
  return patternsOf(values).map((pattern) => formatMatcher({ name, operator: "=~", value: pattern }));
}

/** The label that says which one it is comes last. */
function pairsOf({ subject, labels, facts }: Silenceable): Pair[] {
  const scope = scopeOf(subject);
  const own = scope && sharedOutages.has(facts.problem) ? [] : ["alertname"];
  const identifying = scope ? [scope.label] : IDENTIFYING[subject.kind];
  const names = identifying === "all" ? Object.keys(labels).sort() : [...own, ...identifying];
  return names.flatMap((name) => (labels[name] ? [[name, labels[name]] as const] : []));
}

/** The values that a matcher such as those of `matchersFor` lists; none where it matches others. */
export function valuesOf({ operator, value: pattern }: Pick<Matcher, "operator" | "value">): readonly string[] {
  if (operator === "=") return [pattern];
  const values = pattern.split("|").map((part) => part.replace(/\\(.)/g, "$1"));
  return operator === "=~" && values.map(escaped).join("|") === pattern ? values : [];
}

/** `a|b|c`, in the order of the values. */
function patternsOf(values: readonly string[]): string[] {
  const patterns: string[] = [];
  for (const value of values.toSorted()) {
    const text = escaped(value);
    const last = patterns.at(-1);
    if (last === undefined || last.length + text.length > PATTERN_LENGTH) patterns.push(text);
    else patterns[patterns.length - 1] = `${last}|${text}`;
  }
  return patterns;
}

const escaped = (value: string) => value.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
