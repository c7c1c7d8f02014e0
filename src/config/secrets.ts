/** Secrets from files: `x_file: PATH` sets `x`, for every key that is a secret. */
import { type ConfigDocument, isMapping, type Raw, type RawMap } from "./document.ts";
import type { ConfigSection } from "./key.ts";
import { type Finding, type Path, pathKey } from "./problem.ts";

export interface ResolvedSecrets {
  readonly findings: Finding[];
  /** The values of all secret keys. */
  readonly values: string[];
  /** `pathKey`s of secrets with an unreadable file: no further problem is reported for them. */
  readonly settled: Set<string>;
}

/** Sets the contents of secret files in the tree. `readSecret` returns a file's text or throws. */
export function resolveSecrets(
  document: Pick<ConfigDocument, "tree" | "positions">,
  root: ConfigSection,
  readSecret: (path: string) => string,
): ResolvedSecrets {
  const secrets: ResolvedSecrets = { findings: [], values: [], settled: new Set() };
  visit(document.tree, root, []);
  return secrets;

  function visit(tree: Raw, section: ConfigSection, path: Path): void {
    if (Array.isArray(tree)) {
      for (const [index, item] of tree.entries()) visit(item, section, [...path, index]);
    }
    if (!isMapping(tree)) return;
    for (const [name, key] of Object.entries(section.keys)) {
      if (key.secret) resolveOne(document, tree, [...path, name], secrets, readSecret);
      const below = tree[name];
      if (key.section && below !== undefined) visit(below, key.section(), [...path, name]);
    }
  }
}

function resolveOne(
  { positions }: Pick<ConfigDocument, "positions">,
  tree: RawMap,
  path: Path,
  { findings, values, settled }: ResolvedSecrets,
  readSecret: (path: string) => string,
): void {
  const [name, fileName] = [String(path.at(-1)), `${path.at(-1)}_file`];
  const filePath = [...path.slice(0, -1), fileName];
  const fileAt = positions.get(pathKey(filePath));
  const literal = tree[name];
  if (typeof literal === "string") values.push(literal);
  const refuse = (at: Path, found: string, expected: string, atKey = false) =>
    findings.push({ kind: "secret", path: at, atKey, found, expected });
  if (positions.get(pathKey(path))?.isNothing)
    refuse(path, "nothing", "a secret; leave the key out where there is none");
  if (!fileAt) return;
  const file = tree[fileName];
  delete tree[fileName];
  if (positions.has(pathKey(path))) {
    refuse(filePath, `\`${fileName}\` beside \`${name}\``, "only one of the two", true);
    return;
  }
  positions.set(pathKey(path), fileAt);
  const read = readFrom(file, readSecret);
  if ("secret" in read) {
    tree[name] = read.secret;
    values.push(read.secret);
    return;
  }
  tree[name] = "";
  settled.add(pathKey(path));
  refuse(filePath, read.problem, "the path of a readable file that holds the secret");
}

function readFrom(
  file: Raw | undefined,
  readSecret: (path: string) => string,
): { readonly secret: string } | { readonly problem: string } {
  if (typeof file !== "string" || file === "") return { problem: "no path" };
  try {
    return { secret: readSecret(file).replace(/\r?\n$/, "") };
  } catch (thrown) {
    const { code } = thrown as { code?: unknown };
    const why = typeof code === "string" && /^[A-Z]{1,20}$/.test(code) ? ` (${code})` : "";
    return { problem: `a path that cannot be read${why}` };
  }
}
