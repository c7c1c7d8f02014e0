/** Times on a page: as people read them, with the exact one as title. */
import type { FastifyRequest } from "fastify";
import { IANAZone } from "luxon";
import type { Instant } from "../../lib/clock.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { span, type Times } from "../../lib/when.ts";
import type { HttpDeps } from "../deps.ts";

export type Moment = { readonly now: Instant; readonly times: Times };

/** Times of what lasted for less, in ms, have seconds. */
export const BRIEF_MS = 120_000;

/** `14:05 GMT` in the zone; `14:05:10 GMT` with seconds; `14:05 GMT (12 m)` with more in its brackets. */
export function timeAt(at: Instant, timezone: string, { times }: Moment, seconds = false, more = ""): Markup {
  return written(at, times.at(at, timezone, seconds, more));
}

/** `14:05 GMT (12 m)`. */
export function sinceAt(at: Instant, timezone: string, moment: Moment, seconds = false): Markup {
  return timeAt(at, timezone, moment, seconds, span(at, moment.now));
}

/** `12 s ago`; nothing where it is not known. */
export function agoAt(at: Instant | undefined, { now }: Moment): Markup {
  return at === undefined ? nothing : written(at, `${span(at, now)} ago`);
}

function written(at: Instant, words: string): Markup {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${words}</time>`;
}

/** The zone of the reader: the configured one, else that of their browser, which its script sends; undefined: not known. */
export function readerZone({ server, headers }: FastifyRequest, deps: Pick<HttpDeps, "config">): string | undefined {
  const { timezone = "" } = server.parseCookie(headers.cookie ?? "");
  const browsers = timezone.length <= 64 && IANAZone.isValidZone(timezone) ? timezone : undefined;
  return deps.config().display?.timezone ?? browsers;
}

/** The first zone that is given, else UTC. */
export function knownZone(...zones: readonly (string | undefined)[]): string {
  return zones.find((zone) => !!zone) ?? "UTC";
}
