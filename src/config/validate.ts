/** The tree held against the schema: what zod finds becomes findings in our words, and never shows a secret. */
import type { z } from "zod";
import type { ConfigDocument, Raw } from "./document.ts";
import { type Finding, type Path, pathKey, quotedText, showable, showableKey } from "./finding.ts";
import { keyAt, knownKeys, type Section } from "./key.ts";
import { nearest } from "./scalars.ts";

type Tree = Pick<ConfigDocument, "tree" | "places">;

/** The tree as the schema reads it, or everything that is wrong with it. */
export function validate<T extends object>(
  document: Tree,
  root: Section<T>,
): { value: T } | { findings: Finding[] } {
  const result = root.schema.safeParse(document.tree ?? {});
  if (result.success) return { value: result.data };
  const { issues } = result.error;
  const halfKnown = new Set(
    issues.flatMap(({ code, path }) => (code === "unrecognized_keys" ? [pathOf(path)] : [])),
  );
  const findings = issues.flatMap((issue): Finding[] => {
    const path = issue.path.filter((step) => typeof step !== "symbol");
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(root, path, key));
    if (halfKnown.has(pathOf(path))) return [];
    if (issue.code === "invalid_key") return [badName(path, issue.issues[0]?.message ?? "another name")];
    return [badValue(document, root, path, issue)];
  });
  return { findings };
}

const pathOf = (path: readonly PropertyKey[]): string =>
  pathKey(path.filter((step) => typeof step !== "symbol"));

function unknownKey(root: Section, parent: Path, key: string): Finding {
  const path = [...parent, key];
  const known = knownKeys(root, parent);
  const name = showableKey(key) ? `the unknown key \`${key}\`` : "an unknown key";
  const expected = `one of ${known.join(", ")}`;
  return { kind: "unknown_key", path, atKey: true, found: name, expected, suggestion: nearest(key, known) };
}

function badName(path: Path, expected: string): Finding {
  const key = String(path.at(-1));
  return { kind: "value", path, atKey: true, found: showableKey(key) ? `\`${key}\`` : "a name", expected };
}

function badValue(document: Tree, root: Section, path: Path, issue: z.core.$ZodIssue): Finding {
  const params = issue.code === "custom" ? issue.params : undefined;
  const text = (name: string) => (typeof params?.[name] === "string" ? params[name] : undefined);
  const shown = isShown(document, root, path);
  const expected = shown ? withDetail(issue.message, text("detail")) : issue.message;
  const found = text("found") ?? describe(document, root, path);
  return { kind: "value", path, found, expected, suggestion: shown ? text("suggestion") : undefined };
}

function withDetail(expected: string, detail: string | undefined): string {
  return detail === undefined ? expected : `${expected} (${detail})`;
}

/** A value may be repeated when it is no secret, not from the environment, and does not look like either. */
function isShown(document: Tree, root: Section, path: Path): boolean {
  const { value, variables } = textAt(document, path);
  return typeof value === "string" && !keyAt(root, path)?.secret && variables.length === 0 && showable(value);
}

/** What stands at a path, in words. */
function describe(document: Tree, root: Section, path: Path): string {
  const { value, variables } = textAt(document, path);
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a mapping";
  if (keyAt(root, path)?.secret) return value === "" ? "an empty secret" : "a secret that does not fit";
  return quotedText(value, variables);
}

/** The value at a path and the variables it was read from. A single text stands for a list of one. */
function textAt(document: Tree, path: Path): { value: Raw | undefined; variables: readonly string[] } {
  const parent = path.slice(0, -1);
  const listed = typeof path.at(-1) === "number" && typeof valueAt(document.tree, parent) === "string";
  const at = listed ? parent : path;
  return { value: valueAt(document.tree, at), variables: document.places.get(pathKey(at))?.variables ?? [] };
}

function valueAt(tree: Raw, path: Path): Raw | undefined {
  return path.reduce<Raw | undefined>((here, step) => {
    if (typeof here !== "object" || here === null) return undefined;
    if (Array.isArray(here)) return typeof step === "number" ? here[step] : undefined;
    return Object.hasOwn(here, String(step)) ? here[String(step)] : undefined;
  }, tree);
}
