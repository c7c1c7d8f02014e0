/** The document around every page: its security policy, navigation, visitor, and the time it was made. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { gzip as gzipOf } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { looks, type Tone, tones, worstTone } from "../../alerting/tone.ts";
import type { Instant } from "../../lib/clock.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { timesSeenAt } from "../../lib/when.ts";
import type { HttpDeps } from "../deps.ts";
import { acceptsGzip } from "../stream.ts";
import { bannerMarkup } from "./banner.ts";
import { homeLink, incidentsLink, type LinkParameters, type Root, sameLink, signInLink } from "./links.ts";
import { oldSince, type PageData, versionOf } from "./page-data.ts";
import { type Visitor, visitorOf } from "./visitor.ts";
import { readerZone, timeAt } from "./when.ts";

const REFRESH_SECONDS = 30;

export interface HtmlPage {
  /** The title of the browser's tab, before the product's name. */
  readonly title: string;
  /** `unknown` by default. */
  readonly tone?: Tone;
  /** The link of the header that is this page. */
  readonly here?: "overview" | "locations" | "incidents" | "handover" | "silences" | "session";
  readonly body: Markup;
  /** Undefined for a page that shows no state. */
  readonly data?: PageData;
  /** The moment at which a page without data was made. */
  readonly madeAt?: Instant;
  /** The text that was searched for. */
  readonly sought?: string;
  /** `never` while the reader searches or pages on; undefined where there is no choice. */
  readonly refresh?: "on" | "off" | "never";
  /** Parameters that stay when only the refreshing changes. */
  readonly parameters?: LinkParameters;
  /** The page's address from `/` on, where signing in leads back to. */
  readonly path?: string;
  /** For readers who see nothing else of lenswatch. */
  readonly isAlone?: boolean;
  /** The root of a page without a route, whose visitor is not known. */
  readonly root?: Root;
}

type Page = HtmlPage & { readonly root: Root };

export type Layout = ReturnType<typeof createLayout>;

const gzip = promisify(gzipOf);

/** Sends pages within the document; serves their script as well. */
export function createLayout(app: FastifyInstance, deps: Pick<HttpDeps, "access" | "config">) {
  const files = {
    script: fileRoute(app, "live.js", "text/javascript"),
    style: fileRoute(app, "style.css", "text/css", MARKS),
  };
  return {
    async send(request: FastifyRequest, reply: FastifyReply, page: HtmlPage): Promise<FastifyReply> {
      const { root = request.routeOptions.config.page ?? "./" } = page;
      const document = documentOf({ ...page, root }, visitorOf(request, deps), {
        ...files,
        zone: readerZone(request, deps),
      });
      reply.header("content-security-policy", POLICY).header("vary", "accept-encoding, cookie");
      // Forms are accepted only with the origin they were sent from.
      reply.header("referrer-policy", "same-origin");
      reply.type("text/html; charset=utf-8");
      if (!acceptsGzip(request.headers["accept-encoding"])) return reply.send(document);
      const packed = await gzip(document);
      // Not before: what answers in the meantime, as a deadline does, is plain.
      return reply.header("content-encoding", "gzip").send(packed);
    },
  };
}

/** Nothing is loaded except our script and style sheet; the script makes no markup of text. The icon is in the page. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

function documentOf(
  page: Page,
  visitor: Visitor,
  files: { script: string; style: string; zone: string | undefined },
): string {
  const { refresh, data, root } = page;
  const live = refresh === "on" && data !== undefined;
  const isOld = data !== undefined && oldSince(data) !== undefined;
  const meta = html`<meta http-equiv="refresh" content="${REFRESH_SECONDS}">`;
  const reload = refresh !== "on" ? nothing : live ? html`<noscript>${meta}</noscript>` : meta;
  const scriptTag = html`<script src="${root}${files.script}" data-events="${root}events" defer></script>`;
  const title = isOld ? `! Old data · ${page.title}` : page.title;
  const tone = worstTone([page.tone ?? "unknown", data?.banner?.tone ?? "good", isOld ? "critical" : "good"]);
  const navigation = html`<a class="skip" href="#main">To the content</a>
<header><nav aria-label="Pages">${links(page)}</nav>${searchForm(page)}${account(page, visitor)}</header>`;
  const announcements = html`<p id="lost" role="alert" hidden></p>
<p id="news" class="hidden" role="status"></p>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">${reload}
<title>${title} · lenswatch</title>
<link rel="icon" href="${iconOf(tone)}">
<link rel="stylesheet" href="${root}${files.style}">${live ? scriptTag : nothing}
</head>
<body>
${page.isAlone ? nothing : navigation}
${live ? announcements : nothing}
<main id="main" tabindex="-1"${live ? html` data-version="${versionOf(data)}"` : nothing}>${data ? bannerMarkup(data, root) : nothing}${page.body}</main>
<footer>${made(page, files.zone)}${visitor.isReadOnly && !page.isAlone ? READ_ONLY : nothing}</footer>
</body>
</html>
`.html;
}

const READ_ONLY = html`<p>Read-only: no <code>http.admin_token</code> is configured, so nothing can be acknowledged or
silenced here.</p>`;

function links({ root, here }: Page): Markup[] {
  const show = (name: string) => homeLink(root, { show: name });
  const all = [
    ["overview", "lenswatch", homeLink(root)],
    ["locations", "Locations", show("locations")],
    ["incidents", "Incidents", incidentsLink(root)],
    ["handover", "Handover", `${root}handover`],
    ["silences", "Silences", show("silences")],
  ] as const;
  return all.map(([name, words, href]) => {
    const current = name === here ? html` aria-current="page"` : nothing;
    const brand = name === "overview" ? html` class="brand" aria-label="lenswatch, overview"` : nothing;
    return html` <a href="${href}"${brand}${current}>${words}</a>`;
  });
}

function searchForm({ root, sought = "" }: Page): Markup {
  return html`<form class="find" role="search" action="${root}" method="get">
<label class="hidden" for="find">Part of a name: recording, location, camera server or incident</label>
<input id="find" type="search" name="q" value="${sought}" placeholder="Find" maxlength="256" autocomplete="off" required>
<button>Find</button></form>`;
}

function account({ root, here, path }: Page, { name, canSignIn, canSignOut }: Visitor): Markup {
  if (name !== undefined && !canSignOut) return html`<p class="who"><bdi>${name}</bdi></p>`;
  if (name !== undefined)
    return html`<form class="who" method="post" action="${root}session/end">
<bdi>${name}</bdi> <button class="plain">Sign out</button></form>`;
  if (!canSignIn || here === "session") return nothing;
  return html`<p class="who"><a href="${signInLink(root, path ?? "")}">Sign in</a></p>`;
}

function made({ data, madeAt = data?.moment.now, refresh, parameters }: HtmlPage, zone: string | undefined): Markup {
  if (madeAt === undefined) return nothing;
  const readAt = data && oldSince(data);
  const choice = refreshing(refresh, parameters);
  const moment = { now: madeAt, times: timesSeenAt(madeAt, zone) };
  const secondOf = (at: Instant) => timeAt(at, "UTC", moment, true);
  if (readAt === undefined) return html`<p>State at ${secondOf(madeAt)}. ${choice}</p>`;
  return html`<p>Last good reading at ${secondOf(readAt)}; asked at ${secondOf(madeAt)}. ${choice}</p>`;
}

function refreshing(refresh: HtmlPage["refresh"], parameters: LinkParameters = {}): Markup {
  if (refresh === "off") return html`Updates are paused. <a href="${sameLink(parameters)}">Resume updates</a>`;
  if (refresh !== "on") return html`Does not refresh by itself.`;
  return html`<span id="link"></span><noscript>Refreshes every ${REFRESH_SECONDS} s.</noscript>
<a href="${sameLink({ ...parameters, refresh: "off" })}">Pause updates</a>`;
}

/** The marks of tones for the style sheet, which places them. */
const MARKS = tones.map((tone) => `.${tone} { --mark: "${looks[tone].mark}"; }\n`).join("");

/** Serves a file to everybody, as the sign-in page needs it; gives its path from `/` on, which names its content. */
function fileRoute(app: FastifyInstance, file: string, type: string, more = ""): string {
  const text = readFileSync(new URL(file, import.meta.url), "utf8") + more;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const path = file.replace(".", `-${hash}.`);
  app.get(`/${path}`, { config: { open: true } }, (_request, reply) => {
    reply.header("cache-control", "public, max-age=31536000, immutable");
    return reply.type(`${type}; charset=utf-8`).send(text);
  });
  return path;
}

/** The icon of the browser's tab. */
function iconOf(tone: Tone): string {
  const { mark, colour } = looks[tone];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="${colour}"/>
<text x="8" y="12" font-size="10" font-family="sans-serif" font-weight="700" text-anchor="middle" fill="#fff">${mark}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
