/** Making text from elsewhere safe to show: every renderer passes names from the service through here. */

const SPACING = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

/** Soft hyphen, zero-width characters, bidirectional marks, overrides and isolates, annotation and tag characters. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const CONTROL = /\p{Cc}/gu;

/**
 * One line of visible text: line breaks and tabs become a space; control characters, zero-width characters and
 * whatever turns the direction of the text around are removed; a lone surrogate becomes U+FFFD.
 */
export function stripControls(text: string): string {
  return text.toWellFormed().replace(SPACING, " ").replace(INVISIBLE, "").replace(CONTROL, "");
}

/** Lines of visible text: as `stripControls`, but for the line breaks. */
export function visibleLines(text: string): string {
  return text.split("\n").map(stripControls).join("\n");
}

/**
 * JSON text in which nothing is invisible: JSON.stringify leaves what a terminal obeys beyond ASCII (U+009B begins an
 * escape sequence as well), and what turns text around. It parses to the same value.
 */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN_IN_JSON, (unseen) => unseen.split("").map(escapedUnit).join(""));
}

const UNSEEN_IN_JSON = new RegExp(`[\\u007f-\\u009f\\u2028\\u2029]|${INVISIBLE.source}`, "gu");

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** At most `max` code points, the last of them `…` where something was cut off. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return "";
  let kept = "";
  let count = 0;
  for (const point of text) {
    count += 1;
    if (count > max) return `${kept.trimEnd()}…`;
    if (count < max) kept += point;
  }
  return text;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text for HTML content and for attributes in single or double quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
