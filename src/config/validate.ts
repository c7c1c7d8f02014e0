/** Validation against the schema: zod's issues become findings, which never show a secret. */
import type { z } from "zod";
import { closestWord } from "../lib/suggest.ts";
import type { ConfigDocument, Raw } from "./document.ts";
import { insteadOf } from "./gone.ts";
import { type ConfigSection, keyAt, knownKeys } from "./key.ts";
import { type Finding, type Path, pathKey, quoted, showable, showableKey } from "./problem.ts";
import { type ReadSecret, resolveSecrets } from "./secrets.ts";

type Tree = Pick<ConfigDocument, "tree" | "positions">;

/** The parsed tree, or all findings. */
export function validate<T extends object>(document: Tree, root: ConfigSection<T>) {
  const result = root.schema.safeParse(document.tree ?? {});
  if (result.success) return { value: result.data, findings: [] };
  const { issues } = result.error;
  const unrecognized = issues.filter(({ code }) => code === "unrecognized_keys");
  const withUnknownKeys = new Set(unrecognized.map(({ path }) => pathKey(pathOf(path))));
  const findings = issues.flatMap((issue): Finding[] => {
    const path = pathOf(issue.path);
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(root, path, key));
    if (withUnknownKeys.has(pathKey(path))) return [];
    if (issue.code === "invalid_key") return [badName(path, issue.issues[0]?.message ?? "another name")];
    return [badValue(document, root, path, issue)];
  });
  return { findings };
}

/**
 * Sets the secrets from files in the tree and validates it. Gives the value, every finding, also those of the document,
 * and the values of secrets. Where there is no tree, the document's findings are all.
 */
export function validateWithSecrets<T extends object>(
  document: ConfigDocument,
  root: ConfigSection<T>,
  readSecret: ReadSecret,
) {
  const secrets = resolveSecrets(document, root, readSecret);
  const checked = validate(document, root);
  const isUnread = document.tree === null && document.findings.length > 0;
  const invalid = isUnread ? [] : checked.findings.filter(({ path }) => !secrets.settled.has(pathKey(path)));
  return { ...checked, findings: [...document.findings, ...secrets.findings, ...invalid], secrets: secrets.values };
}

function pathOf(path: readonly PropertyKey[]): Path {
  return path.filter((step) => typeof step !== "symbol");
}

function unknownKey(root: ConfigSection, parent: Path, key: string): Finding {
  const path = [...parent, key];
  const known = knownKeys(root, parent);
  const found = showableKey(key) ? `the unknown key \`${key}\`` : "an unknown key";
  const instead = insteadOf(path);
  if (instead) return { kind: "unknown_key", path, atKey: true, found, expected: `it to be left out: ${instead}` };
  const expected = `one of ${known.join(", ")}`;
  return { kind: "unknown_key", path, atKey: true, found, expected, suggestion: closestWord(key, known) };
}

function badName(path: Path, expected: string): Finding {
  const key = String(path.at(-1));
  return { kind: "value", path, atKey: true, found: showableKey(key) ? `\`${key}\`` : "a name", expected };
}

function badValue(document: Tree, root: ConfigSection, path: Path, issue: z.core.$ZodIssue): Finding {
  const params = issue.code === "custom" ? issue.params : undefined;
  const text = (name: string) => (typeof params?.[name] === "string" ? params[name] : undefined);
  const shown = isShown(document, root, path);
  const detail = shown ? text("detail") : undefined;
  const expected = detail === undefined ? issue.message : `${issue.message} (${detail})`;
  const found = text("found") ?? describe(document, root, path);
  return { kind: "value", path, found, expected, suggestion: shown ? text("suggestion") : undefined };
}

/** A message may quote the value: it is no secret, not from the environment, and similar to neither. */
function isShown(document: Tree, root: ConfigSection, path: Path): boolean {
  const { value, variables } = textAt(document, path);
  return typeof value === "string" && !keyAt(root, path)?.secret && variables.length === 0 && showable(value);
}

function describe(document: Tree, root: ConfigSection, path: Path): string {
  const { value, variables } = textAt(document, path);
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a mapping";
  if (keyAt(root, path)?.secret) return value === "" ? "an empty secret" : "an invalid secret";
  return quoted(value, variables);
}

/** The value at a path and the variables it was read from. A single text stands for a list of one. */
function textAt(document: Tree, path: Path): { value: Raw | undefined; variables: readonly string[] } {
  const parent = path.slice(0, -1);
  const listed = typeof path.at(-1) === "number" && typeof valueAt(document.tree, parent) === "string";
  const at = listed ? parent : path;
  return { value: valueAt(document.tree, at), variables: document.positions.get(pathKey(at))?.variables ?? [] };
}

function valueAt(tree: Raw, path: Path): Raw | undefined {
  return path.reduce<Raw | undefined>((here, step) => {
    if (typeof here !== "object" || here === null) return undefined;
    if (Array.isArray(here)) return typeof step === "number" ? here[step] : undefined;
    return Object.hasOwn(here, String(step)) ? here[String(step)] : undefined;
  }, tree);
}
