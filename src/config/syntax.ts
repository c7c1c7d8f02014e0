/** Findings for YAML syntax errors, in our own words: the parser's messages may quote the text, and a secret with it. */
import type { YAMLError } from "yaml";
import type { Finding } from "./problem.ts";

type Words = readonly [found: string, expected: string];

const WORDS: Partial<Record<YAMLError["code"], Words>> = {
  BAD_ALIAS: ["an alias without an anchor", "the name of an earlier anchor"],
  BAD_DIRECTIVE: ["an unknown YAML directive", "no directive"],
  BAD_DQ_ESCAPE: ["an unknown escape", 'a YAML escape, or single quotes instead of "…"'],
  BAD_INDENT: ["inconsistent indentation", "the same indentation for all keys of a mapping"],
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

/** At most 20 findings, up to the first error without words of its own: later ones may only follow from it. */
export function syntaxFindings(errors: readonly YAMLError[]): Finding[] {
  const last = errors.findIndex(({ code }) => WORDS[code] === undefined);
  return errors.slice(0, last < 0 ? 20 : Math.min(last + 1, 20)).map(({ code, pos }) => {
    const [found, expected] = WORDS[code] ?? OTHER;
    return { kind: "syntax", path: [], offset: pos[0], found, expected };
  });
}
