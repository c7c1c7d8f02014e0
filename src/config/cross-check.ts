/**
 * What has to hold between parts of the file. It reads the tree as it is, right or wrong, so that these problems
 * are told together with all others.
 */
import type { ConfigDocument, Raw, RawMap } from "./document.ts";
import { type Finding, type Path, pathKey, quoted, quotedText } from "./finding.ts";
import { nearest } from "./scalars.ts";
import { isMapping } from "./secrets.ts";

type Document = Pick<ConfigDocument, "tree" | "places" | "position">;

export function crossCheck(document: Document): Finding[] {
  const tree = isMapping(document.tree) ? document.tree : {};
  const receivers = namesOf(tree.receivers);
  return [
    ...duplicates(document, "receivers"),
    ...duplicates(document, "digests"),
    ...duplicates(document, "time_intervals"),
    ...rootRoute(document, tree, receivers),
    ...undefinedReceivers(document, tree.route, ["route"], receivers),
    ...undefinedIntervals(document, tree.route, ["route"], namesOf(tree.time_intervals)),
    ...mailWithoutServer(tree),
  ];
}

function namesOf(list: Raw | undefined): string[] {
  const names = items(list).flatMap((item) => (typeof item.name === "string" ? [item.name] : []));
  return [...new Set(names)];
}

function items(list: Raw | undefined): RawMap[] {
  return Array.isArray(list) ? list.filter(isMapping) : [];
}

function duplicates(document: Document, listName: string): Finding[] {
  const tree = isMapping(document.tree) ? document.tree[listName] : undefined;
  const first = new Map<string, number>();
  return (Array.isArray(tree) ? tree : []).flatMap((item, index): Finding[] => {
    const name = isMapping(item) ? item.name : undefined;
    if (typeof name !== "string") return [];
    const path = [listName, index, "name"];
    const place = document.places.get(pathKey(path));
    const before = first.get(name);
    if (before === undefined) {
      first.set(name, place?.offset ?? 0);
      return [];
    }
    const expected = `a name of its own: line ${document.position(before).line} has it already`;
    return [{ kind: "conflict", path, found: found(document, path, name), expected }];
  });
}

function rootRoute(document: Document, tree: RawMap, receivers: readonly string[]): Finding[] {
  const route = tree.route;
  if (route === undefined) {
    if (receivers.length < 2) return [];
    const expected = `a route that says which of the ${receivers.length} receivers is told`;
    const offset = document.places.get(pathKey(["receivers"]))?.keyOffset;
    return [{ kind: "conflict", path: ["route"], offset, found: "nothing", expected }];
  }
  if (!isMapping(route)) return [];
  const findings: Finding[] = [];
  const refuse = (key: string, foundText: string, expected: string) =>
    findings.push({ kind: "conflict", path: ["route", key], found: foundText, expected });
  if (route.receiver === undefined)
    refuse("receiver", "nothing", "the receiver of all that no other route takes");
  if (!isEmpty(route.matchers)) refuse("matchers", "matchers", "none: the root takes every alert");
  for (const key of INTERVALS) {
    if (!isEmpty(route[key])) refuse(key, key, "none: the root is never muted, its routes may be");
  }
  if (route.continue === "true") refuse("continue", "true", "false: nothing comes after the root");
  return findings;
}

function isEmpty(value: Raw | undefined): boolean {
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

function undefinedReceivers(
  document: Document,
  route: Raw | undefined,
  path: Path,
  known: readonly string[],
): Finding[] {
  if (!isMapping(route)) return [];
  const name = route.receiver;
  const children = Array.isArray(route.routes) ? route.routes : [];
  const below = children.flatMap((child, index) =>
    undefinedReceivers(document, child, [...path, "routes", index], known),
  );
  if (typeof name !== "string" || known.length === 0 || known.includes(name)) return below;
  const at = [...path, "receiver"];
  const expected = `one of the receivers there are: ${known.map((each) => quoted(each)).join(", ")}`;
  const kind = "conflict";
  return [
    { kind, path: at, found: found(document, at, name), expected, suggestion: nearest(name, known) },
    ...below,
  ];
}

const INTERVALS = ["mute_time_intervals", "active_time_intervals"] as const;

function undefinedIntervals(
  document: Document,
  route: Raw | undefined,
  path: Path,
  known: readonly string[],
): Finding[] {
  if (!isMapping(route)) return [];
  const children = Array.isArray(route.routes) ? route.routes : [];
  const here = INTERVALS.flatMap((key) => {
    const value = route[key];
    const names: [Raw, Path][] = Array.isArray(value)
      ? value.map((name, index) => [name, [...path, key, index]])
      : [[value ?? null, [...path, key]]];
    return names.flatMap(([name, at]): Finding[] => {
      if (typeof name !== "string" || name === "" || known.includes(name)) return [];
      const expected =
        known.length === 0
          ? "a name from `time_intervals`, of which there are none"
          : `one of the time_intervals there are: ${known.map((each) => quoted(each)).join(", ")}`;
      const suggestion = nearest(name, known);
      return [{ kind: "conflict", path: at, found: found(document, at, name), expected, suggestion }];
    });
  });
  const below = children.flatMap((child, index) =>
    undefinedIntervals(document, child, [...path, "routes", index], known),
  );
  return [...here, ...below];
}

function mailWithoutServer(tree: RawMap): Finding[] {
  if (tree.smtp !== undefined) return [];
  const need = (path: Path, foundText: string): Finding => ({
    kind: "conflict",
    path,
    atKey: true,
    found: foundText,
    expected: "`smtp` to send them through",
  });
  const receivers = Array.isArray(tree.receivers) ? tree.receivers : [];
  const mails = receivers.flatMap((receiver, index) =>
    isMapping(receiver) && !isEmpty(receiver.email_configs)
      ? [need(["receivers", index, "email_configs"], "e-mail receivers without `smtp`")]
      : [],
  );
  return isEmpty(tree.digests) ? mails : [...mails, need(["digests"], "digests without `smtp`")];
}

function found(document: Document, path: Path, text: string): string {
  return quotedText(text, document.places.get(pathKey(path))?.variables ?? []);
}
