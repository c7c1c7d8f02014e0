/** Lists the harmful effects of rendered text; empty is harmless. */
import { limitsBroken, type SlackBody } from "./slack-sink.ts";

/** Control characters but line feed, line separators, marks and overrides of direction, halves of characters. */
const UNSEEN = /(?!\n)\p{Cc}|[\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066\u2067]|\p{Surrogate}/u;

function found(what: string, pattern: RegExp, text: string): string[] {
  const match = pattern.exec(text);
  return match ? [`${what}: ${JSON.stringify(text.slice(Math.max(0, match.index - 40), match.index + 40))}`] : [];
}

/** A line, or lines, of plain text. */
export function textProblems(text: string): string[] {
  return found("an unseen character", UNSEEN, text);
}

/** Text for a terminal: also without tab, carriage return or escapes other than our bold. */
export function terminalProblems(text: string): string[] {
  return textProblems(text.replaceAll("\u001b[1m", "").replaceAll("\u001b[22m", ""));
}

/** A runbook, and where an alert from outside comes from, may lead anywhere on the web. */
const OUR_LINK = /<(?:https:\/\/lenswatch\.example\.com\/[^<>|\s]*\|[\w ]+|https?:\/\/[^<>|\s]*\|(?:Runbook|Source))>/g;

/** Slack's mrkdwn: only our links and bold are active, within all limits. */
export function slackProblems(body: SlackBody): string[] {
  return [...limitsBroken(body), ...slackTexts(body).flatMap(mrkdwnProblems)];
}

function slackTexts(body: SlackBody): string[] {
  const attachments = body.attachments ?? [];
  const blocks = [...(body.blocks ?? []), ...attachments.flatMap(({ blocks }) => blocks ?? [])];
  return [
    body.text ?? "",
    ...blocks.flatMap(({ text, fields = [] }) => [text?.text ?? "", ...fields.map(({ text: of }) => of)]),
    ...attachments.flatMap(({ fallback }) => fallback ?? []),
  ];
}

function mrkdwnProblems(text: string): string[] {
  const words = text.replace(OUR_LINK, "");
  const unspaced = words.replace(/\u200b[*_~`]\u200b/g, "");
  return [
    ...textProblems(text),
    ...found("a live bracket", /[<>]/, words),
    ...found("a bare ampersand", /&(?!(?:amp|lt|gt);)/, words),
    ...found("live markup", /[_~`]/, unspaced),
    ...unspaced.split("\n").flatMap((line) => found("bold of theirs", /^(?!(?:• )?(?:\*[^*]*\*)?[^*]*$)/, line)),
  ];
}

/** Outlook's comments, as our templates have them. */
const CONDITIONS = /<!--\[if mso\]>|<!\[endif\]-->/g;
const BLOCKS = /<(script|style)\b[^>]*>.*?<\/\1>/gs;
const WELL_FORMED = /^<(?:!doctype html|\/?[a-z][a-z0-9]*(?: [a-zA-Z-]+(?:="[^"<>]*")?)* ?\/?)>$/i;
/** A runbook and a source may lead anywhere on the web. */
const FOREIGN_LINK = /<a [^>]*href="https?:\/\/[^"<>]*"[^>]*>(?:Runbook|Source)<\/a>/g;

/**
 * What a document consists of, whatever its words: its elements, their attributes, whole scripts and style sheets, and
 * where it leads to. A document of harmless names has all that one of harmful names may have.
 */
export function htmlVocabulary(html: string): Set<string> {
  const rest = html.replace(CONDITIONS, "").replace(BLOCKS, "").replace(FOREIGN_LINK, "");
  const words = new Set([...html.matchAll(BLOCKS)].map(([block]) => block));
  for (const [, tag = "", attributes = ""] of rest.matchAll(/<\/?([^\s>/]+)([^>]*)>/g)) {
    words.add(`<${tag.toLowerCase()}>`);
    for (const [, name = "", value = ""] of attributes.matchAll(/([^\s="]+)(?:="([^"]*)")?/g)) {
      words.add(`<${tag.toLowerCase()} ${name.toLowerCase()}>`);
      if (/^(?:href|src|action|formaction|poster|data)$/i.test(name)) words.add(`leads to ${whereTo(value)}`);
    }
  }
  return words;
}

function whereTo(target: string): string {
  const [scheme] = /^[a-z][a-z\d+.-]*:(?:\/\/[^/?#]*)?|^\/\//i.exec(target) ?? ["here"];
  return scheme.toLowerCase();
}

/** A whole document: well-formed, and nothing in it that is not `ours`. */
export function htmlProblems(html: string, ours: ReadonlySet<string>): string[] {
  const rest = html.replace(CONDITIONS, "").replace(BLOCKS, "");
  const tags = [...rest.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
  return [
    ...textProblems(html),
    ...tags.filter((tag) => !WELL_FORMED.test(tag)).map((tag) => `a broken tag: ${tag.slice(0, 100)}`),
    ...found("a bare bracket", /[<>]/, rest.replace(/<[^>]*>/g, "")),
    ...found("a bare ampersand", /&(?!(?:#\d+|#x[\da-f]+|[a-z]+);)/i, rest),
    ...[...htmlVocabulary(html)].filter((word) => !ours.has(word)).map((word) => `not ours: ${word.slice(0, 200)}`),
  ];
}

/** Cells that a spreadsheet would take for a formula, and unseen characters. */
export function csvProblems(csv: string): string[] {
  const cells = [...csv.matchAll(/(?:^|,|\n)(?:"((?:[^"]|"")*)"|([^",\n]*))/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
  return [
    ...terminalProblems(csv),
    ...cells.filter((cell) => /^[\s\p{Cf}]*[=+\-@]/u.test(cell)).map((cell) => `a formula: ${cell.slice(0, 60)}`),
  ];
}
