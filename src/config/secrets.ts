/** Secrets from files: `x_file: PATH` sets `x`, for every key that is a secret. */
import { type ConfigDocument, isMapping, type Raw, type RawMap } from "./document.ts";
import type { ConfigSection } from "./key.ts";
import { type Finding, type Path, pathKey } from "./problem.ts";

type Document = Pick<ConfigDocument, "tree" | "positions">;
/** Returns a file's text or throws. */
export type ReadSecret = (path: string) => string;

/**
 * Sets the contents of secret files in the tree. Gives the values of all secret keys, and as `settled` the `pathKey`s
 * of secrets with an unreadable file: no further problem is reported for them.
 */
export function resolveSecrets({ tree, positions }: Document, root: ConfigSection, readSecret: ReadSecret) {
  const findings: Finding[] = [];
  const values: string[] = [];
  const settled = new Set<string>();
  visit(tree, root, []);
  return { findings, values, settled };

  function visit(tree: Raw, section: ConfigSection, path: Path): void {
    if (Array.isArray(tree)) {
      for (const [index, item] of tree.entries()) visit(item, section, [...path, index]);
    }
    if (!isMapping(tree)) return;
    for (const [name, key] of Object.entries(section.keys)) {
      if (key.secret) resolve(tree, path, name);
      const below = tree[name];
      if (key.section && below !== undefined) visit(below, key.section(), [...path, name]);
    }
  }

  function resolve(tree: RawMap, parent: Path, name: string): void {
    const [path, fileName] = [[...parent, name], `${name}_file`];
    const filePath = [...parent, fileName];
    const [at, fileAt] = [positions.get(pathKey(path)), positions.get(pathKey(filePath))];
    const { [name]: literal, [fileName]: file } = tree;
    if (typeof literal === "string") values.push(literal);
    if (at?.isNothing) refuse(path, "nothing", "a secret; leave the key out where there is none");
    if (!fileAt) return;
    delete tree[fileName];
    if (at) {
      refuse(filePath, `\`${fileName}\` beside \`${name}\``, "only one of the two", true);
      return;
    }
    positions.set(pathKey(path), fileAt);
    try {
      if (typeof file !== "string" || file === "") throw new Error("no path");
      tree[name] = readSecret(file).replace(/\r?\n$/, "");
      values.push(tree[name]);
    } catch (thrown) {
      tree[name] = "";
      settled.add(pathKey(path));
      const found = typeof file === "string" && file ? `a path that cannot be read${codeOf(thrown)}` : "no path";
      refuse(filePath, found, "the path of a readable file, absolute or relative to the configuration file");
    }
  }

  function refuse(path: Path, found: string, expected: string, atKey = false): void {
    findings.push({ kind: "secret", path, atKey, found, expected });
  }
}

/** Node's code of an error in brackets after a space; empty without one. */
function codeOf(thrown: unknown): string {
  const { code } = thrown as { code?: unknown };
  return typeof code === "string" && /^[A-Z]{1,20}$/.test(code) ? ` (${code})` : "";
}
