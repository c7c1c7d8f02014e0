/** Names of the keys in which two configurations differ, as they are written in a file; never values. */
import type { Config } from "./config.ts";
import { isMapping } from "./document.ts";

/** `watch.status_interval`, `rules[RecordingOffline]`, `route`: a key of a section, or an item of a list by its name. */
export function changedKeys(before: Config, after: Config): string[] {
  const sections = differing(new Map(Object.entries(before)), new Map(Object.entries(after)));
  return [...new Set(sections.flatMap(([name, ...sides]) => within(keyName(name), ...sides)))].sort();
}

/** Keys that are named as a whole, without those below. */
const WHOLE = ["route", "http.metrics_listen"];

function within(path: string, a: unknown, b: unknown): string[] {
  const [left, right] = [byName(a), byName(b)];
  if (left && right) {
    const items = differing(left, right).map(([name]) => `${path}[${name}]`);
    return items.length > 0 ? items : [path];
  }
  if (WHOLE.includes(path) || !isMapping(a) || !isMapping(b)) return [path];
  const keys = differing(new Map(Object.entries(a)), new Map(Object.entries(b)));
  return keys.flatMap(([key, ...sides]) => within(`${path}.${keyName(key)}`, ...sides));
}

type Items = ReadonlyMap<string, unknown>;

/** The items of a list that have names; undefined for anything else. */
function byName(list: unknown): Items | undefined {
  if (!Array.isArray(list) || !list.every(isMapping)) return undefined;
  const named = list.map((item) => ("alert" in item ? item.alert : "name" in item ? item.name : undefined));
  if (!named.every((name) => typeof name === "string")) return undefined;
  return Map.groupBy(list, (item) => String(named[list.indexOf(item)]));
}

function differing(left: Items, right: Items): [name: string, a: unknown, b: unknown][] {
  return [...new Set([...left.keys(), ...right.keys()])]
    .map((name): [string, unknown, unknown] => [name, left.get(name), right.get(name)])
    .filter(([, a, b]) => JSON.stringify(a) !== JSON.stringify(b));
}

/** `statusIntervalMs` is the key `status_interval`. */
function keyName(field: string): string {
  if (field === "host" || field === "port") return "listen";
  return field.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
