/** `GET /handover`: what one shift tells the next, and the form for what it should tell as well. */
import { z } from "zod";
import { type Document, type Part, partsOf } from "../../alerting/document.ts";
import type { Instant } from "../../lib/clock.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { parsePast } from "../../lib/moment.ts";
import { HttpError } from "../errors.ts";
import { timezoneParameter } from "../v1/handover.ts";
import { filterForm, textInput } from "./field.ts";
import type { HtmlPage } from "./layout.ts";
import { formToken, type Visitor } from "./visitor.ts";

const past = z.string().max(64, "expected at most 64 characters");

/** Unknown parameters are ignored, as mail programs add some to links. */
export const HandoverQuery = z.object({
  since: past.default("12h"),
  until: past.optional(),
  timezone: timezoneParameter,
});
type HandoverQuery = z.infer<typeof HandoverQuery> & { readonly timezone: string };

/** Throws HttpError `bad_query`. */
export function askedSpan({ since, until, timezone }: HandoverQuery, now: Instant) {
  const [from, to] = [since, until || undefined].map((text) => text && parsePast(text, now, timezone));
  if (!from) throw new HttpError("bad_query", "since: expected a time such as 20:00, 12h or 2026-01-31T20:00.");
  if (until && !to) throw new HttpError("bad_query", "until: expected a time such as 08:00.");
  return { from: from.start, to: to ? to.end : now };
}

export function handoverPage(document: Document, query: HandoverQuery, visitor: Visitor): HtmlPage {
  const { since, until, timezone } = query;
  const form = filterForm("./handover", [
    ["Since", textInput("since", since, "20:00", 64)],
    ["until", textInput("until", until, "now", 64)],
    ["Time zone", textInput("timezone", timezone, "", 64)],
  ]);
  const body = html`<h1>${document.title}</h1>${form}${partsOf(document).map(partMarkup)}${noteForm(visitor)}`;
  return { title: document.title, here: "handover", path: "handover", refresh: "never", body };
}

function partMarkup(part: Part): Markup {
  if (part.kind === "row") {
    const { name, text, notes } = part.row;
    const more = notes.map((note) => html`<br><small>${note}</small>`);
    return html`<p><strong><bdi>${name}</bdi></strong><br>${text}${more}</p>\n`;
  }
  if (part.kind === "heading") return html`<h2>${part.text}</h2>\n`;
  return part.kind === "action" ? nothing : html`<p>${part.text}</p>\n`;
}

function noteForm(visitor: Visitor): Markup {
  if (visitor.formToken === undefined) return nothing;
  return html`<h2>Note for the next shift</h2><form method="post" action="./handover/notes">${formToken(visitor)}
<div class="field"><label for="text">Note</label><textarea id="text" name="text" rows="3" maxlength="1000" required></textarea></div>
<button>Add</button></form>`;
}
