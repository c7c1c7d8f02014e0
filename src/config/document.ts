/**
 * YAML text as a plain tree whose scalars are texts as written, with environment variables substituted: the schema
 * decides what is a number or a duration, so that an id of digits or a name `on` stays a text. Aliases work, within bounds.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { type Environment, substitute } from "./environment.ts";
import { type Finding, type Path, pathKey } from "./problem.ts";
import { syntaxFindings } from "./syntax.ts";

export type Raw = string | null | Raw[] | RawMap;
export interface RawMap {
  [key: string]: Raw;
}

export interface ConfigDocument {
  /** Mappings without the keys that have no value. */
  readonly tree: Raw;
  readonly findings: readonly Finding[];
  /** Environment variables that texts were read from, by `pathKey`: such texts are never shown. */
  readonly variables: ReadonlyMap<string, readonly string[]>;
  /** Whether the file has a key at the path, with a value or without one. */
  has(path: Path): "value" | "nothing" | undefined;
  /** The offset of a value, or of its key; of the nearest parent's key where the path is not in the file. */
  offsetOf(path: Path, atKey?: boolean): number;
  /** Line and column of an offset, from 1. */
  position(offset: number): { line: number; column: number };
}

const MAX_CHARACTERS = 1_048_576;
const MAX_NODES = 50_000;
const MAX_DEPTH = 60;

/** Parses the text; YAML errors are in `findings`. Never throws. */
export function readDocument(text: string, env: Environment): ConfigDocument {
  const lineCounter = new LineCounter();
  const isTooLarge = text.length > MAX_CHARACTERS;
  const options = { schema: "failsafe", uniqueKeys: false, prettyErrors: false, logLevel: "error" } as const;
  const document = parseDocument(isTooLarge ? "" : text, { ...options, lineCounter });
  const errors = [...document.errors, ...document.warnings];
  const { tree, findings, variables } =
    isTooLarge || errors.length > 0
      ? { tree: null, findings: isTooLarge ? [tooLarge] : syntaxFindings(errors), variables: new Map() }
      : readTree(document.contents, env);
  return {
    tree,
    findings,
    variables,
    ...lookups(document),
    position(offset) {
      const { line, col } = lineCounter.linePos(offset);
      return { line: Math.max(1, line), column: Math.max(1, col) };
    },
  };
}

const tooLarge: Finding = {
  kind: "syntax",
  path: [],
  found: "a file of more than a million characters",
  expected: "a configuration",
};

function lookups(document: Document): Pick<ConfigDocument, "has" | "offsetOf"> {
  return {
    has(path) {
      const at = find(document, path);
      return at && (isNothing(at.node) ? "nothing" : "value");
    },
    offsetOf(path, atKey = false) {
      const at = find(document, path) ?? find(document, secretFilePath(path));
      if (at) return atKey || isNothing(at.node) ? (at.keyOffset ?? at.offset) : at.offset;
      for (let length = path.length - 1; length >= 0; length -= 1) {
        const parent = find(document, path.slice(0, length));
        if (parent) return parent.keyOffset ?? parent.offset;
      }
      return 0;
    },
  };
}

/** Whether a value is a mapping. */
export function isMapping(value: Raw | undefined): value is RawMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `x_file` stands for the secret `x`. */
export function secretFilePath(path: Path): Path {
  return [...path.slice(0, -1), `${path.at(-1)}_file`];
}

interface Located {
  readonly node: Node | null;
  readonly keyOffset: number | undefined;
  readonly offset: number;
}

/** The node at a path, aliases followed. */
function find(document: Document, path: Path): Located | undefined {
  let here: Located = locate(document, document.contents, undefined);
  for (const step of path) {
    const { node } = here;
    if (isSeq(node) && typeof step === "number" && step < node.items.length)
      here = locate(document, node.items[step] as Node | null, undefined);
    else {
      const pair = isMap(node)
        ? node.items.find(({ key }) => isScalar(key) && key.value === step)
        : undefined;
      if (!pair) return undefined;
      const { key, value } = pair as Pair<Node, Node | null>;
      here = locate(document, value, key.range?.[0] ?? 0);
    }
  }
  return here;
}

function locate(document: Document, node: Node | null, keyOffset: number | undefined): Located {
  const offset = node?.range?.[0] ?? keyOffset ?? 0;
  if (!isAlias(node)) return { node, keyOffset, offset };
  const target = node.resolve(document) ?? null;
  return { node: target, keyOffset: keyOffset ?? offset, offset: target?.range?.[0] ?? offset };
}

/** `key:`, `key: ~` and `key: null` have no value; in quotes, they are texts. */
function isNothing(node: Node | null): boolean {
  if (!isScalar(node)) return !isMap(node) && !isSeq(node);
  return node.type === "PLAIN" && ["", "~", "null", "Null", "NULL"].includes(node.source ?? "");
}

interface Reader {
  readonly env: Environment;
  readonly findings: Finding[];
  readonly variables: Map<string, readonly string[]>;
  readonly anchors: Map<string, Node>;
  nodes: number;
}

function readTree(root: Node | null, env: Environment) {
  const reader: Reader = { env, findings: [], variables: new Map(), anchors: new Map(), nodes: 0 };
  const tree = read(reader, root, []);
  return { tree, findings: reader.findings, variables: reader.variables };
}

function read(reader: Reader, node: Node | null, path: Path): Raw {
  reader.nodes += 1;
  if (reader.nodes > MAX_NODES) return refuseSize(reader, path, node, `more than ${MAX_NODES} values`);
  if (path.length > MAX_DEPTH) return refuseSize(reader, path, node, "values nested too deeply");
  if (isAlias(node)) {
    const target = reader.anchors.get(node.source);
    if (target) return read(reader, target, path);
    return refuse(reader, path, node, "an alias without an anchor", "the name of an earlier anchor");
  }
  if (node && "anchor" in node && node.anchor) reader.anchors.set(node.anchor, node);
  if (isMap(node)) return readMap(reader, node, path);
  if (isSeq(node))
    return node.items.map((item, index) => read(reader, item as Node | null, [...path, index]));
  return isScalar(node) && !isNothing(node) ? readText(reader, String(node.value), path) : null;
}

function readMap(reader: Reader, map: YAMLMap, path: Path): RawMap {
  const result: RawMap = {};
  const seen = new Set<string>();
  for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
    if (!isScalar(key) || typeof key.value !== "string" || key.value === "__proto__") {
      refuse(reader, path, key, "a key that is not a plain name", "a name");
      continue;
    }
    const at = [...path, key.value];
    if (seen.has(key.value)) {
      refuse(reader, at, key, "a duplicate key", "each key once per mapping");
      continue;
    }
    seen.add(key.value);
    const content = read(reader, value, at);
    if (content !== null) result[key.value] = content;
  }
  return result;
}

function readText({ env, variables, findings }: Reader, text: string, path: Path): string {
  const { value, names, missing, malformed } = substitute(text, env);
  if (names.length > 0) variables.set(pathKey(path), names);
  findings.push(...environmentFindings(path, missing, malformed));
  return value;
}

function refuse({ findings }: Reader, path: Path, node: Node | null, found: string, expected: string): null {
  findings.push({ kind: "syntax", path, offset: node?.range?.[0] ?? 0, found, expected });
  return null;
}

function refuseSize(reader: Reader, path: Path, node: Node | null, found: string): null {
  const isKnown = reader.findings.some((finding) => finding.found === found);
  return isKnown ? null : refuse(reader, path.slice(0, 3), node, found, "fewer");
}

function environmentFindings(path: Path, missing: readonly string[], malformed: boolean): Finding[] {
  const kind = "environment";
  if (malformed) {
    const expected = `\${NAME} or \${NAME:-default}; a literal \${ is written $\${`;
    return [{ kind, path, found: "a ${ without a valid variable name", expected }];
  }
  if (missing.length === 0) return [];
  const names = [...new Set(missing)].map((name) => `\${${name}}`).join(" and ");
  const found = `${names}, not set in the environment`;
  return [{ kind, path, found, expected: `a variable that is set, or a default as in \${NAME:-default}` }];
}
