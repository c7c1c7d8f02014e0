/** What rendered text may not do, as lists of what it does: empty is harmless. */
import { limitsBroken, type SlackBody } from "./slack-sink.ts";

/** Control characters but line feed, line separators, marks and overrides of direction, halves of characters. */
const UNSEEN = /(?!\n)\p{Cc}|[\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066\u2067]|\p{Surrogate}/u;

function found(what: string, pattern: RegExp, text: string): string[] {
  const match = pattern.exec(text);
  return match
    ? [`${what}: ${JSON.stringify(text.slice(Math.max(0, match.index - 40), match.index + 40))}`]
    : [];
}

/** A line, or lines, of plain text. */
export function textProblems(text: string): string[] {
  return found("an unseen character", UNSEEN, text);
}

/** What a terminal is given: also no tab, carriage return or escape that is not our own bold. */
export function terminalProblems(text: string): string[] {
  return textProblems(text.replaceAll("\u001b[1m", "").replaceAll("\u001b[22m", ""));
}

/** A runbook, and where an alert from outside comes from, may lead anywhere on the web. */
const OUR_LINK =
  /<(?:https:\/\/lenswatch\.example\.com\/[^<>|\s]*\|(?:Status|Open status page)|https?:\/\/[^<>|\s]*\|(?:Runbook|Source))>/g;

/** Everything Slack reads as mrkdwn: only our own links and bold are live, and every limit holds. */
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
    ...unspaced
      .split("\n")
      .flatMap((line) => found("bold of theirs", /^(?!(?:• )?(?:\*[^*]*\*)?[^*]*$)/, line)),
  ];
}

/** What our documents are made of, now or one day; nothing that poison.ts brings along. */
const TAGS = new Set(
  `!doctype html head meta link title style body header nav main footer section article div span p a h1 h2 h3 h4 ul ol li
   dl dt dd table caption colgroup col thead tbody tr th td strong em small br hr i q bdi code pre form fieldset legend label
   input select option button time details summary figure figcaption`.split(/\s+/),
);
/** Outlook's comments, as our templates have them. */
const CONDITIONS = /<!--\[if mso\]>|<!\[endif\]-->/g;
const WELL_FORMED = /^<(?:!doctype html|\/?[a-z][a-z0-9]*(?: [a-z-]+(?:="[^"<>]*")?)*)>$/i;
const OUR_TARGET =
  /^(?:\.{0,2}\/|\?|#main$|\.$|https:\/\/lenswatch\.example\.com(?:\/|$)|data:image\/svg\+xml|data:,|mailto:)/;

/** A whole document: only tags and attributes of ours, which lead only to us. */
export function htmlProblems(html: string): string[] {
  const rest = html.replace(/<style>.*?<\/style>/gs, "").replace(CONDITIONS, "");
  const tags = [...rest.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
  const names = tags.map((tag) => /^<\/?([^\s>/]+)/.exec(tag)?.[1]?.toLowerCase() ?? tag);
  const elsewhere = rest.replace(/<a [^>]*href="https?:\/\/[^"<>]*"[^>]*>(?:Runbook|Source)<\/a>/g, "");
  const targets = [...elsewhere.matchAll(/\s(?:href|src|action|formaction|poster|data)="([^"]*)"/g)].map(
    ([, target = ""]) => target,
  );
  const problems = [
    ...textProblems(html),
    ...tags.filter((tag) => !WELL_FORMED.test(tag)).map((tag) => `a broken tag: ${tag.slice(0, 100)}`),
    ...names.filter((name) => !TAGS.has(name)).map((name) => `a tag of theirs: ${name}`),
    ...found("a handler", /<[^>]*\son\w+=/i, rest.replace(/="[^"]*"/g, "=")),
    ...found("a bare bracket", /[<>]/, rest.replace(/<[^>]*>/g, "")),
    ...found("a bare ampersand", /&(?!(?:#\d+|#x[\da-f]+|[a-z]+);)/i, rest),
    ...targets
      .filter((target) => !OUR_TARGET.test(target))
      .map((target) => `leads to ${target.slice(0, 100)}`),
  ];
  return [...new Set(problems)];
}

/** Cells that a spreadsheet would take for a formula, and unseen characters. */
export function csvProblems(csv: string): string[] {
  const cells = [...csv.matchAll(/(?:^|,|\n)(?:"((?:[^"]|"")*)"|([^",\n]*))/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
  return [
    ...terminalProblems(csv),
    ...cells
      .filter((cell) => /^[\s\p{Cf}]*[=+\-@]/u.test(cell))
      .map((cell) => `a formula: ${cell.slice(0, 60)}`),
  ];
}
