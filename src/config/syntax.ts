/** What the YAML parser refuses, in our words: its own messages may quote the text, and a secret with it. */
import type { YAMLError } from "yaml";
import type { Finding } from "./finding.ts";

type Words = readonly [found: string, expected: string];

const WORDS: Partial<Record<YAMLError["code"], Words>> = {
  BAD_ALIAS: ["an alias of no anchor", "the name of an anchor further up"],
  BAD_DIRECTIVE: ["a YAML directive that is not known", "no directive"],
  BAD_DQ_ESCAPE: ["an escape that YAML does not know", 'a YAML escape, or single quotes instead of "…"'],
  BAD_INDENT: [
    "a line indented differently from its neighbours",
    "the same indentation for keys of one mapping",
  ],
  BAD_SCALAR_START: ["a text that begins with a reserved character", "the text in quotes"],
  BLOCK_AS_IMPLICIT_KEY: ["a second `key:` on one line", "one key a line, or the text in quotes"],
  BLOCK_IN_FLOW: ["a block inside [ ] or { }", "commas inside [ ] and { }"],
  MISSING_CHAR: ["a quote, bracket, comma or colon missing", "the one that closes or separates it"],
  MULTILINE_IMPLICIT_KEY: ["a key that goes on over several lines", "`key: value` on one line"],
  MULTIPLE_DOCS: ["a second document after `---`", "one document"],
  RESOURCE_EXHAUSTION: ["values nested too deeply", "fewer"],
  TAB_AS_INDENT: ["a tab as indentation", "spaces"],
  TAG_RESOLVE_FAILED: ["a tag that is not known", "no tag"],
};

const UNEXPECTED: Words = [
  "something out of place",
  "YAML: a text with { } [ ] , : or # in it stands in quotes",
];

/** Where the errors stand and what they mean. After something out of place all else may only follow from it. */
export function syntaxFindings(errors: readonly YAMLError[]): Finding[] {
  const last = errors.findIndex(({ code }) => WORDS[code] === undefined);
  return errors.slice(0, last < 0 ? 20 : Math.min(last + 1, 20)).map(syntaxFinding);
}

function syntaxFinding(error: YAMLError): Finding {
  const [found, expected] = WORDS[error.code] ?? UNEXPECTED;
  return { kind: "syntax", path: [], offset: error.pos[0], found, expected };
}
