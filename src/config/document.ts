/**
 * YAML text as a plain tree whose scalars are texts as written, with environment variables substituted: the schema
 * decides what is a number or a duration, so that an id of digits or a name `on` stays a text. Aliases work, within bounds.
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from "yaml";
import { type Finding, type Path, type Position, type Positions, pathKey } from "./problem.ts";

export type Raw = string | null | Raw[] | RawMap;
export interface RawMap {
  [key: string]: Raw;
}

export interface ConfigDocument extends Positions {
  /** Mappings without the keys that have no value. */
  readonly tree: Raw;
  readonly findings: readonly Finding[];
}

const MAX_CHARACTERS = 1_048_576;
const MAX_NODES = 50_000;
const MAX_DEPTH = 60;

/**
 * Parses the text; YAML errors are in `findings`, without a tree unless `isPartial`. Without `env`, `${` has no meaning.
 * Never throws.
 */
export function readYaml(text: string, env: Environment | undefined, isPartial = false): ConfigDocument {
  const lineCounter = new LineCounter();
  const position = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const positions = new Map<string, Position>();
  const refused = (findings: Finding[]) => ({ tree: null, positions, findings, position });
  if (text.length > MAX_CHARACTERS) {
    const found = "a file of more than a million characters";
    return refused([{ kind: "syntax", path: [], found, expected: "a configuration" }]);
  }
  const options = { schema: "failsafe", uniqueKeys: false, prettyErrors: false, logLevel: "error" } as const;
  const document = parseDocument(text, { ...options, lineCounter });
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0 && !isPartial) return refused(syntaxFindings(errors));
  const reader: Reader = { env, positions, findings: [], anchors: new Map(), nodes: 0 };
  return { tree: read(reader, document.contents, []), positions, findings: reader.findings, position };
}

/** The value is a mapping. */
export function isMapping(value: unknown): value is RawMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `key:`, `key: ~` and `key: null` have no value; in quotes, they are texts. */
function isNothing(node: Node | null): boolean {
  if (!isScalar(node)) return !isMap(node) && !isSeq(node);
  return node.type === "PLAIN" && ["", "~", "null", "Null", "NULL"].includes(node.source ?? "");
}

interface Reader {
  readonly env: Environment | undefined;
  readonly findings: Finding[];
  readonly positions: Map<string, Position>;
  readonly anchors: Map<string, Node>;
  nodes: number;
}

function read(reader: Reader, node: Node | null, path: Path, keyOffset?: number): Raw {
  reader.nodes += 1;
  if (reader.nodes > MAX_NODES) return refuseSize(reader, path, node, `more than ${MAX_NODES} values`);
  if (path.length > MAX_DEPTH) return refuseSize(reader, path, node, "values nested too deeply");
  const offset = node?.range?.[0] ?? keyOffset ?? 0;
  if (isAlias(node)) {
    const target = reader.anchors.get(node.source);
    if (target) return read(reader, target, path, keyOffset ?? offset);
    return refuse(reader, path, node, "an alias without an anchor", "the name of an earlier anchor");
  }
  if (node && "anchor" in node && node.anchor) reader.anchors.set(node.anchor, node);
  const text = isScalar(node) && !isNothing(node) ? substitute(String(node.value), reader.env) : undefined;
  const variables = text?.names ?? [];
  reader.positions.set(pathKey(path), { keyOffset, offset, isNothing: isNothing(node), variables });
  if (isMap(node)) return readMap(reader, node, path);
  if (isSeq(node)) return node.items.map((item, index) => read(reader, item as Node | null, [...path, index]));
  if (text) reader.findings.push(...environmentFindings(path, text.missing, text.malformed));
  return text?.value ?? null;
}

function readMap(reader: Reader, map: YAMLMap, path: Path): RawMap {
  const result: RawMap = {};
  for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
    if (!isScalar(key) || typeof key.value !== "string" || key.value === "__proto__") {
      refuse(reader, path, key, "a key that is not a plain name", "a name");
      continue;
    }
    const at = [...path, key.value];
    if (reader.positions.has(pathKey(at))) {
      refuse(reader, at, key, "a duplicate key", "each key once per mapping");
      continue;
    }
    const content = read(reader, value, at, key.range?.[0] ?? 0);
    if (content !== null) result[key.value] = content;
  }
  return result;
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
  const names = [...new Set(missing)];
  const found = `${names.map((name) => `\${${name}}`).join(" and ")}, not set in the environment`;
  const expected = `${names.join(" and ")} set where lenswatch is started, or a default as in \${${names[0]}:-default}`;
  return [{ kind, path, found, expected }];
}

type Words = readonly [found: string, expected: string];

const WORDS: Partial<Record<YAMLError["code"], Words>> = {
  BAD_ALIAS: ["an alias without an anchor", "the name of an earlier anchor"],
  BAD_DIRECTIVE: ["an unknown YAML directive", "no directive"],
  BAD_DQ_ESCAPE: ["an unknown escape", 'a YAML escape, or single quotes instead of "…"'],
  BAD_INDENT: [
    "inconsistent indentation, or a bracket that is not closed",
    "the same indentation for all keys of a mapping, and a ] or } for each [ or {",
  ],
  BAD_SCALAR_START: ["a text that begins with a reserved character", "the text in quotes"],
  BLOCK_AS_IMPLICIT_KEY: ["a second `key:` on one line", "one key per line, or the text in quotes"],
  BLOCK_IN_FLOW: ["a block inside [ ] or { }", "commas inside [ ] and { }"],
  MISSING_CHAR: ["a missing quote, bracket, comma or colon", "the one that closes or separates it"],
  MULTILINE_IMPLICIT_KEY: ["a key over several lines", "`key: value` on one line"],
  MULTIPLE_DOCS: ["a second document after `---`", "one document"],
  RESOURCE_EXHAUSTION: ["values nested too deeply", "fewer"],
  TAB_AS_INDENT: ["a tab as indentation", "spaces"],
  TAG_RESOLVE_FAILED: ["an unknown tag", "no tag"],
};

const OTHER: Words = ["a syntax error", "valid YAML; quote a text that contains { } [ ] , : or #"];

/**
 * Findings in our own words: the parser's messages may quote the text, and a secret with it. At most
 * 20, up to the first error without words of its own: later ones may only follow from it.
 */
function syntaxFindings(errors: readonly YAMLError[]): Finding[] {
  const last = errors.findIndex(({ code }) => WORDS[code] === undefined);
  return errors.slice(0, last < 0 ? 20 : Math.min(last + 1, 20)).map(({ code, pos }) => {
    const [found, expected] = WORDS[code] ?? OTHER;
    return { kind: "syntax", path: [], offset: pos[0], found, expected };
  });
}

/** `${NAME}` and `${NAME:-default}` in a value, read from the environment. `$${` stands for a literal `${`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g;
const NAME_AND_DEFAULT = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/**
 * The text with its references replaced once, not recursively; the `names` that were read, in order, those `missing`
 * without a default, and whether some reference is `malformed`.
 */
function substitute(text: string, env: Environment | undefined) {
  if (!env) return { value: text, names: [], missing: [], malformed: false };
  const names: string[] = [];
  const missing: string[] = [];
  let malformed = false;
  const value = text.replace(REFERENCE, (whole, inside: string | undefined) => {
    if (inside === undefined) return "${";
    const reference = whole.endsWith("}") ? NAME_AND_DEFAULT.exec(inside) : null;
    const name = reference?.[1];
    if (name === undefined) {
      malformed = true;
      return "";
    }
    names.push(name);
    const found = Object.hasOwn(env, name) ? env[name] : undefined;
    const fallback = reference?.[2];
    if (fallback !== undefined) return found || fallback;
    if (found === undefined) missing.push(name);
    return found ?? "";
  });
  return { value, names, missing, malformed };
}
