/** Secrets from files: `x_file: PATH` becomes `x`, for every key that is a secret. */
import type { ConfigDocument, Raw, RawMap } from "./document.ts";
import { type Finding, type Path, pathKey } from "./finding.ts";
import type { Section } from "./key.ts";

export interface Secrets {
  readonly findings: readonly Finding[];
  /** Every value found at a secret key. */
  readonly values: readonly string[];
  /** `pathKey`s of secrets whose file could not be read: nothing more is to be said of them. */
  readonly settled: ReadonlySet<string>;
}

/** Puts what the files hold into the tree. `readSecret` gives a file's text or throws. */
export function resolveSecrets(
  document: Pick<ConfigDocument, "tree" | "places">,
  root: Section,
  readSecret: (path: string) => string,
): Secrets {
  const findings: Finding[] = [];
  const values: string[] = [];
  const settled = new Set<string>();
  visit(document.tree, root, []);
  return { findings, values, settled };

  function visit(tree: Raw, section: Section, path: Path): void {
    if (Array.isArray(tree)) {
      for (const [index, item] of tree.entries()) visit(item, section, [...path, index]);
    }
    if (!isMapping(tree)) return;
    for (const [name, key] of Object.entries(section.keys)) {
      if (key.secret) resolve(tree, name, path);
      const below = tree[name];
      if (key.section && below !== undefined) visit(below, key.section(), [...path, name]);
    }
  }

  function resolve(tree: RawMap, name: string, path: Path): void {
    const [at, fileName] = [[...path, name], `${name}_file`];
    const fileAt = [...path, fileName];
    const file = tree[fileName];
    if (typeof tree[name] === "string") values.push(tree[name]);
    if (document.places.get(pathKey(at))?.kind === "nothing") {
      const expected = "a secret; leave the key out where there is none";
      findings.push({ kind: "secret", path: at, found: "nothing", expected });
    }
    if (!document.places.has(pathKey(fileAt))) return;
    delete tree[fileName];
    if (document.places.has(pathKey(at))) {
      const found = `\`${fileName}\` beside \`${name}\``;
      findings.push({ kind: "secret", path: fileAt, atKey: true, found, expected: "only one of the two" });
      return;
    }
    const place = document.places.get(pathKey(fileAt));
    if (place) document.places.set(pathKey(at), place);
    const secret = readFrom(file, fileAt);
    tree[name] = secret ?? "";
    if (secret === undefined) settled.add(pathKey(at));
    else values.push(secret);
  }

  function readFrom(file: Raw | undefined, path: Path): string | undefined {
    const expected = "the path of a readable file that holds the secret";
    if (typeof file !== "string" || file === "") {
      findings.push({ kind: "secret", path, found: "no path", expected });
      return undefined;
    }
    try {
      return readSecret(file).replace(/\r?\n$/, "");
    } catch (thrown) {
      const { code } = thrown as { code?: unknown };
      const why = typeof code === "string" && /^[A-Z]{1,20}$/.test(code) ? ` (${code})` : "";
      findings.push({ kind: "secret", path, found: `a path that cannot be read${why}`, expected });
      return undefined;
    }
  }
}

/** Whether a value is a mapping. */
export function isMapping(value: Raw | undefined): value is RawMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
