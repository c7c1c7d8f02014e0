/** External text made safe to show. Every renderer passes names from the service through these functions. */

const SPACING = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

/** Soft hyphen, zero-width characters, bidirectional marks, overrides and isolates, annotation and tag characters. */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const CONTROL = /\p{Cc}/gu;

/**
 * One line of visible text: line breaks and tabs become a space; control, zero-width and direction characters are
 * removed; a lone surrogate becomes U+FFFD.
 */
export function stripControls(text: string): string {
  return text.toWellFormed().replace(SPACING, " ").replace(INVISIBLE, "").replace(CONTROL, "");
}

/** The same with the line breaks unchanged. */
export function visibleLines(text: string): string {
  return text.split("\n").map(stripControls).join("\n");
}

/**
 * JSON text with every invisible character escaped; it parses to the same value. JSON.stringify leaves control characters
 * beyond ASCII (U+009B begins an escape sequence) and direction characters as they are.
 */
export function visibleJson(json: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(INVISIBLE_IN_JSON, (found) => found.split("").map(escaped).join(""));
}

const INVISIBLE_IN_JSON = new RegExp(`[\\u007f-\\u009f\\u2028\\u2029]|${INVISIBLE.source}`, "gu");

/** At most `max` code points, the last one `…` where text was cut. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return "";
  // A code point is at most two units.
  const points = [...text.slice(0, 2 * max + 2)];
  if (points.length <= max) return text;
  const kept = points.slice(0, max - 1).join("");
  return `${kept.trimEnd()}…`;
}

/** The first letter in upper case. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text for HTML content and for attributes in single or double quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Orders texts by their UTF-16 code units, the same in every locale. */
export function compareText(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** An http or https URL, normalized; undefined for any other text. */
export function webHref(text = ""): string | undefined {
  if (text.length > 2_000 || !URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}
