/** Constraints between parts of the file. The tree may be invalid, so that these problems are reported with all others. */
import { closestWord } from "../lib/suggest.ts";
import { type ConfigDocument, isMapping, type Raw, type RawMap } from "./document.ts";
import { type Finding, offsetOf, type Path, pathKey, quoted } from "./problem.ts";

type Document = Pick<ConfigDocument, "tree" | "positions" | "position">;
type Located<T> = readonly [T, Path];

export function crossCheck(document: Document): Finding[] {
  const tree = isMapping(document.tree) ? document.tree : {};
  const receivers = namesOf(tree.receivers);
  const intervals = namesOf(tree.time_intervals);
  const unknown = undefinedNames.bind(undefined, document);
  return [
    ...["receivers", "digests", "time_intervals", "maintenance"].flatMap((list) =>
      duplicates(document, tree[list], list),
    ),
    ...rootRoute(document, tree, receivers),
    ...routesIn(tree.route, ["route"]).flatMap(([route, path]) => [
      ...(receivers.length === 0 ? [] : unknown([[route.receiver, [...path, "receiver"]]], receivers, "receivers")),
      ...escalations(document, route, path, receivers),
      ...INTERVALS.flatMap((key) => unknown(textsAt(route[key], [...path, key]), intervals, "time_intervals")),
    ]),
    ...listed(tree.maintenance).flatMap((one, i) => {
      const names = isMapping(one) ? one.time_intervals : undefined;
      return unknown(textsAt(names, ["maintenance", i, "time_intervals"]), intervals, "time_intervals");
    }),
    ...listed(tree.digests).flatMap((one, i) => {
      const name = isMapping(one) ? one.slack : undefined;
      return receivers.length === 0 ? [] : unknown([[name, ["digests", i, "slack"]]], receivers, "receivers");
    }),
    ...mailWithoutServer(tree),
    ...columnsWithoutDirectory(tree),
  ];
}

/** Each step goes to another configured receiver. */
function escalations(document: Document, route: RawMap, path: Path, receivers: readonly string[]): Finding[] {
  const steps = listed(route.escalate).map((step, i): Located<Raw | undefined> => {
    return [isMapping(step) ? step.receiver : undefined, [...path, "escalate", i, "receiver"]];
  });
  const seen = new Set([route.receiver]);
  const repeated = steps.flatMap(([name, at]): Finding[] => {
    if (typeof name !== "string" || !seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [conflict(document, at, name, "a receiver that the route does not notify already")];
  });
  return [...(receivers.length === 0 ? [] : undefinedNames(document, steps, receivers, "receivers")), ...repeated];
}

const INTERVALS = ["mute_time_intervals", "active_time_intervals"] as const;

function namesOf(list: Raw | undefined): string[] {
  const names = listed(list).flatMap((item) => (isMapping(item) && typeof item.name === "string" ? [item.name] : []));
  return [...new Set(names)];
}

function listed(value: Raw | undefined): readonly Raw[] {
  return Array.isArray(value) ? value : [];
}

function routesIn(route: Raw | undefined, path: Path): Located<RawMap>[] {
  if (!isMapping(route)) return [];
  return [
    [route, path],
    ...listed(route.routes).flatMap((child, index) => routesIn(child, [...path, "routes", index])),
  ];
}

/** The items of a list; a single text stands for a list of one. */
function textsAt(value: Raw | undefined, path: Path): Located<Raw | undefined>[] {
  return Array.isArray(value) ? value.map((item, index) => [item, [...path, index]]) : [[value, path]];
}

function duplicates(document: Document, list: Raw | undefined, listName: string): Finding[] {
  const lines = new Map<string, number>();
  return listed(list).flatMap((item, index): Finding[] => {
    const name = isMapping(item) ? item.name : undefined;
    if (typeof name !== "string") return [];
    const path = [listName, index, "name"];
    const line = lines.get(name);
    if (line !== undefined) return [conflict(document, path, name, `a unique name; line ${line} has it already`)];
    lines.set(name, document.position(offsetOf(document, path)).line);
    return [];
  });
}

function rootRoute(document: Document, tree: RawMap, receivers: readonly string[]): Finding[] {
  const { route } = tree;
  const kind = "conflict";
  if (route === undefined) {
    if (receivers.length < 2) return [];
    const expected = `a route that selects one of the ${receivers.length} receivers`;
    return [{ kind, path: ["route"], offset: offsetOf(document, ["receivers"], true), found: "nothing", expected }];
  }
  if (!isMapping(route)) return [];
  const findings: Finding[] = [];
  const refuse = (key: string, found: string, expected: string) =>
    findings.push({ kind, path: ["route", key], found, expected });
  if (route.receiver === undefined) refuse("receiver", "nothing", "the receiver of alerts that no other route takes");
  if (!isEmpty(route.matchers)) refuse("matchers", "matchers", "none: the root takes every alert");
  for (const key of INTERVALS) {
    if (!isEmpty(route[key])) refuse(key, key, "none: the root is never muted, its routes may be");
  }
  if (route.continue === "true") refuse("continue", "true", "false: nothing comes after the root");
  return findings;
}

function isEmpty(value: Raw | undefined): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function undefinedNames(
  document: Document,
  names: readonly Located<Raw | undefined>[],
  known: readonly string[],
  key: "receivers" | "time_intervals",
): Finding[] {
  return names.flatMap(([name, path]): Finding[] => {
    if (typeof name !== "string" || known.includes(name)) return [];
    if (name === "" && key === "time_intervals") return [];
    const names = known.map((each) => quoted(each)).join(", ");
    const expected = names ? `one of the configured ${key}: ${names}` : `a name from \`${key}\`, which is empty`;
    return [{ ...conflict(document, path, name, expected), suggestion: closestWord(name, known) }];
  });
}

function conflict({ positions }: Document, path: Path, text: string, expected: string): Finding {
  return { kind: "conflict", path, found: quoted(text, positions.get(pathKey(path))?.variables), expected };
}

/** Recipients in a column need a directory. */
function columnsWithoutDirectory({ directory, receivers }: RawMap): Finding[] {
  if (isMapping(directory) && directory.locations !== undefined) return [];
  return listed(receivers).flatMap((receiver, index) => {
    const mails = isMapping(receiver) ? listed(receiver.email_configs) : [];
    return mails.flatMap((mail, at): Finding[] => {
      if (!isMapping(mail) || !listed(mail.to).some(isMapping)) return [];
      const path = ["receivers", index, "email_configs", at, "to"];
      return [
        {
          kind: "conflict",
          path,
          found: "a column without `directory.locations`",
          expected: "a directory that has it",
        },
      ];
    });
  });
}

function mailWithoutServer(tree: RawMap): Finding[] {
  if (tree.smtp !== undefined) return [];
  const need = (path: Path, found: string): Finding => {
    return { kind: "conflict", path, atKey: true, found, expected: "`smtp` to send them through" };
  };
  const mails = listed(tree.receivers).flatMap((receiver, index) => {
    if (!isMapping(receiver) || isEmpty(receiver.email_configs)) return [];
    return [need(["receivers", index, "email_configs"], "e-mail receivers without `smtp`")];
  });
  const isMailed = listed(tree.digests).some(
    (digest) => !isMapping(digest) || digest.slack === undefined || digest.to !== undefined,
  );
  return !isMailed ? mails : [...mails, need(["digests"], "digests without `smtp`")];
}
