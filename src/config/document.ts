/**
 * YAML text as a plain tree, with the place of every key and value. Every scalar stays the text it was written
 * as, the environment read in: what it means (a number, a duration) is for the schema to say, so that an id of
 * digits or a name `on` is never turned into something else. Anchors work; what they add up to is bounded.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";
import { type Environment, substitute } from "./environment.ts";
import { type Finding, type Path, pathKey } from "./finding.ts";
import { syntaxFindings } from "./syntax.ts";

export type Raw = string | null | Raw[] | RawMap;
export interface RawMap {
  [key: string]: Raw;
}

/** What stands at a path. Offsets count from the start of the text. */
export interface Place {
  readonly keyOffset: number | undefined;
  readonly offset: number;
  readonly kind: "nothing" | "text" | "list" | "mapping";
  /** Environment variables the text was read from: then it is never shown. */
  readonly variables: readonly string[];
}

export interface ConfigDocument {
  /** Mappings leave out keys without a value. */
  readonly tree: Raw;
  /** By `pathKey`. */
  readonly places: Map<string, Place>;
  readonly findings: readonly Finding[];
  position(offset: number): { line: number; column: number };
}

const MAX_CHARACTERS = 1_048_576;
const MAX_NODES = 50_000;
const MAX_DEPTH = 60;

/** Reads the text; what is wrong with it as YAML is in `findings`. Never throws. */
export function readDocument(text: string, env: Environment): ConfigDocument {
  const lines = new LineCounter();
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const places = new Map<string, Place>();
  if (text.length > MAX_CHARACTERS) return { tree: null, places, findings: [tooLarge], position };
  const document = parseDocument(text, {
    schema: "failsafe",
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
    logLevel: "error",
  });
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0) return { tree: null, places, findings: syntaxFindings(errors), position };
  const findings: Finding[] = [];
  const tree = document.contents ? createReader(env, places, findings)(document.contents) : null;
  return { tree, places, findings, position };
}

const tooLarge: Finding = {
  kind: "syntax",
  path: [],
  found: "a file of more than a million characters",
  expected: "a configuration",
};

function createReader(env: Environment, places: Map<string, Place>, findings: Finding[]) {
  const anchors = new Map<string, Node>();
  let nodes = 0;

  return (root: Node): Raw => read(root, []);

  function read(node: Node | null, path: Path, keyOffset?: number): Raw {
    const offset = node?.range?.[0] ?? keyOffset ?? 0;
    const note = (kind: Place["kind"], variables: readonly string[] = []) =>
      places.set(pathKey(path), { keyOffset, offset, kind, variables });
    nodes += 1;
    if (nodes > MAX_NODES || path.length > MAX_DEPTH) return refuseSize(path, offset);
    if (isAlias(node)) return readAlias(node.source, path, offset, keyOffset);
    if (node && "anchor" in node && node.anchor) anchors.set(node.anchor, node);
    if (isMap(node)) {
      note("mapping");
      return readMap(node, path);
    }
    if (isSeq(node)) {
      note("list");
      return node.items.map((item, index) => read(item as Node | null, [...path, index]));
    }
    if (!isScalar(node) || isNothing(node)) {
      note("nothing");
      return null;
    }
    const { value, names, missing, malformed } = substitute(String(node.value), env);
    note("text", names);
    findings.push(...environmentFindings(path, missing, malformed));
    return value;
  }

  function readMap(map: YAMLMap, path: Path): RawMap {
    const result: RawMap = {};
    for (const { key, value } of map.items) {
      const offset = (key as Node | null)?.range?.[0] ?? 0;
      if (!isScalar(key) || typeof key.value !== "string" || key.value === "__proto__") {
        findings.push({
          kind: "syntax",
          path,
          offset,
          found: "a key that is no plain name",
          expected: "a name",
        });
        continue;
      }
      const at = [...path, key.value];
      if (places.has(pathKey(at))) {
        const expected = "every key once in its mapping";
        findings.push({ kind: "syntax", path: at, offset, found: "the key a second time", expected });
        continue;
      }
      const content = read(value as Node | null, at, offset);
      if (content !== null) result[key.value] = content;
    }
    return result;
  }

  function readAlias(name: string, path: Path, offset: number, keyOffset: number | undefined): Raw {
    const target = anchors.get(name);
    if (target) return read(target, path, keyOffset ?? offset);
    const expected = "the name of an anchor further up";
    findings.push({ kind: "syntax", path, offset, found: "an alias of no anchor", expected });
    return null;
  }

  function refuseSize(path: Path, offset: number): null {
    const found = nodes > MAX_NODES ? `more than ${MAX_NODES} values` : "values nested too deeply";
    const seen = findings.some((finding) => finding.found === found);
    if (!seen) findings.push({ kind: "syntax", path: path.slice(0, 3), offset, found, expected: "fewer" });
    return null;
  }
}

/** `key:`, `key: ~` and `key: null` are keys without a value; quoted, they are texts. */
function isNothing(node: { source?: string; type?: string | undefined }): boolean {
  return node.type === "PLAIN" && ["", "~", "null", "Null", "NULL"].includes(node.source ?? "");
}

function environmentFindings(path: Path, missing: readonly string[], malformed: boolean): Finding[] {
  const kind = "environment";
  if (malformed) {
    const expected = `\${NAME} or \${NAME:-default}; a literal \${ is written $\${`;
    return [{ kind, path, found: "a ${ that names no variable", expected }];
  }
  if (missing.length === 0) return [];
  const names = [...new Set(missing)].map((name) => `\${${name}}`).join(" and ");
  const found = `${names}, not set in the environment`;
  return [{ kind, path, found, expected: `a variable that is set, or a default as in \${NAME:-default}` }];
}
