/** What every page has: the document, its policy, the way about, and when it was made. */
import { createHash } from "node:crypto";
import type { Instant } from "../../lib/clock.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { iconOf } from "./icon.ts";
import { homeLink, type Parameters, type Root, sameLink } from "./links.ts";
import { STYLE_SHEET } from "./style.ts";

/** How it stands; `unknown` is no kind of good. */
export type Mood = "bad" | "unknown" | "warn" | "good";

export const REFRESH_SECONDS = 30;

export interface Page {
  /** Of the browser's tab, before the product's name. */
  readonly title: string;
  readonly mood: Mood;
  readonly root: Root;
  /** Which link of the header it is. */
  readonly here?: "overview" | "locations" | "alerts" | "search";
  readonly body: Markup;
  /** Undefined for a page that tells no state. */
  readonly madeAt?: Instant;
  /**
   * Whether it loads itself anew. Never under somebody's hands: not while they search or page on. Undefined where
   * there is nothing to choose.
   */
  readonly refresh?: "on" | "off" | "never";
  /** What its address asks for, kept where only the refreshing changes. */
  readonly parameters?: Parameters;
}

/**
 * The policy of every page: nothing is loaded, nothing runs; the one style sheet is allowed by its hash, the
 * tab's icon comes with the page, and a search goes nowhere but here.
 */
export function pagePolicy(): string {
  const hash = createHash("sha256").update(STYLE_SHEET).digest("base64");
  return `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
}

/** A whole HTML document. */
export function documentOf(page: Page): string {
  const refresh =
    page.refresh === "on" ? html`<meta http-equiv="refresh" content="${REFRESH_SECONDS}">` : nothing;
  const written = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">${refresh}
<title>${page.title} · lenswatch</title><link rel="icon" href="${iconOf(page.mood)}"><style>${{ html: STYLE_SHEET }}</style></head>
<body><a class="skip" href="#main">To the content</a>
<header><nav aria-label="Pages">${links(page)}</nav></header>
<main id="main" tabindex="-1">${page.body}</main>
<footer>${made(page)}</footer></body></html>
`;
  return written.html;
}

function links({ root, here }: Page): Markup[] {
  const all = [
    ["overview", "lenswatch", {}],
    ["locations", "Locations", { show: "locations" }],
    ["alerts", "Alerts", { show: "alerts" }],
    ["search", "Search", { show: "search" }],
  ] as const;
  return all.map(([name, words, parameters]) => {
    const current = name === here ? html` aria-current="page"` : nothing;
    const brand = name === "overview" ? html` class="brand" aria-label="lenswatch, overview"` : nothing;
    return html` <a href="${homeLink(root, parameters)}"${brand}${current}>${words}</a>`;
  });
}

function made(page: Page): Markup {
  if (page.madeAt === undefined) return nothing;
  const iso = new Date(page.madeAt).toISOString();
  const time = html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
  return html`<p>As it was at ${time}. ${refreshing(page)}</p>`;
}

function refreshing({ refresh, parameters }: Page): Markup {
  switch (refresh) {
    case "on":
      return html`Refreshes every ${REFRESH_SECONDS} s. <a href="${sameLink({ ...parameters, refresh: "off" })}">Stop refreshing</a>`;
    case "off":
      return html`Does not refresh. <a href="${sameLink({ ...parameters })}">Refresh every ${REFRESH_SECONDS} s</a>`;
    default:
      return html`Does not refresh by itself.`;
  }
}
