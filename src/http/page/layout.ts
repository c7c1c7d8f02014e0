/** What every page has: the document, its policy, the way about, who looks at it, and when it was made. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip as gzipOf } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Instant } from "../../lib/clock.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { HttpDeps } from "../deps.ts";
import { acceptsGzip } from "../stream.ts";
import { iconOf } from "./icon.ts";
import { homeLink, type Parameters, type Root, sameLink, signInLink } from "./links.ts";
import { liveScriptRoute } from "./live-script.ts";
import { STYLE_SHEET } from "./style.ts";
import { type Visitor, visitorOf } from "./visitor.ts";

/** How it stands; `unknown` is no kind of good. */
export type Mood = "bad" | "unknown" | "warn" | "good";

export const REFRESH_SECONDS = 30;

export interface Page {
  /** Of the browser's tab, before the product's name. */
  readonly title: string;
  readonly mood: Mood;
  readonly root: Root;
  /** Which link of the header it is. */
  readonly here?: "overview" | "locations" | "alerts" | "silences" | "search" | "session";
  readonly body: Markup;
  /** Undefined for a page that tells no state. */
  readonly madeAt?: Instant;
  /**
   * Whether it loads itself anew. Never under somebody's hands: not while they search or page on. Undefined where
   * there is nothing to choose.
   */
  readonly refresh?: "on" | "off" | "never";
  /** Of what it shows: where it differs, the page is not the newest any more. */
  readonly version?: string;
  /** What its address asks for, kept where only the refreshing changes. */
  readonly parameters?: Parameters;
  /** Its address from `/` on: where signing in leads back to. */
  readonly path?: string;
}

/** Sends pages, framed for who asked. */
export interface Layout {
  send(request: FastifyRequest, reply: FastifyReply, page: Page): Promise<FastifyReply>;
}

const gzip = promisify(gzipOf);

/** Serves the script of the pages as well. */
export function createLayout(app: FastifyInstance, deps: Pick<HttpDeps, "adminToken" | "readToken">): Layout {
  const policy = pagePolicy();
  const script = liveScriptRoute(app);
  return {
    async send(request, reply, page) {
      const document = documentOf(page, visitorOf(request, deps), script);
      reply.header("content-security-policy", policy).header("vary", "accept-encoding, cookie");
      // A form says where it was sent from: its receiver asks for that.
      reply.header("referrer-policy", "same-origin");
      reply.type("text/html; charset=utf-8");
      if (!acceptsGzip(request.headers["accept-encoding"])) return reply.send(document);
      return reply.header("content-encoding", "gzip").send(await gzip(document));
    },
  };
}

/**
 * The policy of every page: nothing is loaded but its one script, which may fetch the page itself and make no markup of
 * text; the one style sheet is allowed by its hash, the tab's icon comes with the page, and a form goes nowhere but here.
 */
function pagePolicy(): string {
  const hash = createHash("sha256").update(STYLE_SHEET).digest("base64");
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "script-src 'self'",
    "connect-src 'self'",
    "img-src data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** A whole HTML document. */
function documentOf(page: Page, visitor: Visitor, script: string): string {
  const { refresh, version, root } = page;
  const live = refresh === "on" && version !== undefined;
  const again = html`<meta http-equiv="refresh" content="${REFRESH_SECONDS}">`;
  const reload = refresh !== "on" ? nothing : live ? html`<noscript>${again}</noscript>` : again;
  const follow = live
    ? html`<script src="${root}${script}" data-events="${root}events" defer></script>`
    : nothing;
  const written = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">${reload}
<title>${page.title} · lenswatch</title><link rel="icon" href="${iconOf(page.mood)}"><style>${{ html: STYLE_SHEET }}</style>${follow}</head>
<body><a class="skip" href="#main">To the content</a>
<header><nav aria-label="Pages">${links(page)}</nav>${who(page, visitor)}</header>
${live ? html`<p id="lost" role="alert" hidden></p><p id="news" class="hidden" role="status"></p>` : nothing}<main id="main" tabindex="-1"${live ? html` data-version="${version}"` : nothing}>${page.body}</main>
<footer>${made(page)}${readOnly(visitor)}</footer></body></html>
`;
  return written.html;
}

function links({ root, here }: Page): Markup[] {
  const all = [
    ["overview", "lenswatch", {}],
    ["locations", "Locations", { show: "locations" }],
    ["alerts", "Alerts", { show: "alerts" }],
    ["silences", "Silences", { show: "silences" }],
    ["search", "Search", { show: "search" }],
  ] as const;
  return all.map(([name, words, parameters]) => {
    const current = name === here ? html` aria-current="page"` : nothing;
    const brand = name === "overview" ? html` class="brand" aria-label="lenswatch, overview"` : nothing;
    return html` <a href="${homeLink(root, parameters)}"${brand}${current}>${words}</a>`;
  });
}

/** Who has signed in, with the way out, or the way in; nothing where there is nothing to sign in with. */
function who({ root, here, path }: Page, { name, canSignIn }: Visitor): Markup {
  if (name !== undefined) {
    return html`<form class="who" method="post" action="${root}session/end"><bdi>${name}</bdi> <button class="plain">Sign out</button></form>`;
  }
  if (!canSignIn || here === "session") return nothing;
  return html`<p class="who"><a href="${signInLink(root, path ?? "")}">Sign in</a></p>`;
}

function readOnly({ isReadOnly }: Visitor): Markup {
  if (!isReadOnly) return nothing;
  return html`<p>Read-only: no <code>http.admin_token</code> is configured, so nothing can be acknowledged or silenced here.</p>`;
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
      return html`<span id="link"></span><noscript>Refreshes every ${REFRESH_SECONDS} s.</noscript> <a href="${sameLink({ ...parameters, refresh: "off" })}">Hold it still</a>`;
    case "off":
      return html`Held still. <a href="${sameLink({ ...parameters })}">Follow what happens</a>`;
    default:
      return html`Does not refresh by itself.`;
  }
}
