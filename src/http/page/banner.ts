/** The banner at the top of every page: what is wrong with lenswatch itself, since when, and what to do. */
import { fingerprint } from "../../alerting/fingerprint.ts";
import { handledText } from "../../alerting/suppression-words.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { alertPageLink, type Root } from "./links.ts";
import type { PageData } from "./page-data.ts";
import { sinceAt } from "./when.ts";

export function bannerMarkup({ banner, moment, suppressed }: PageData, root: Root): Markup {
  if (!banner) return nothing;
  const { tone, summary, text, since, alert } = banner;
  const phrase = alert ? handledText({ alert, ...suppressed.get(alert.key) }, moment.times) : "";
  const link = alert && html` <a href="${alertPageLink(root, fingerprint(alert.labels))}">Details</a>`;
  return html`<div id="banner" class="banner ${tone}" role="alert"><p><strong>${cut(summary, 200)}</strong>, since
${sinceAt(since, "UTC", moment)}${phrase === "" ? nothing : html`, <bdi>${phrase}</bdi>`}.</p>
<p><bdi>${cut(text, 600)}</bdi>${link ?? nothing}</p></div>`;
}
