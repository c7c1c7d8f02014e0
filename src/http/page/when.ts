/** Times on a page: as people read them, with the exact one as title. */
import type { Instant } from "../../lib/clock.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { span, type Times } from "../../lib/when.ts";

export interface Moment {
  readonly now: Instant;
  readonly times: Times;
}

/** `14:05 GMT` in the zone. */
export function timeAt(at: Instant, timezone: string, { times }: Moment): Markup {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${times.at(at, timezone)}</time>`;
}

/** `12 s ago`; nothing where it is not known. */
export function agoAt(at: Instant | undefined, { now }: Moment): Markup {
  if (at === undefined) return nothing;
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${span(at, now)} ago</time>`;
}

/** The first zone that is given, else UTC. */
export function knownZone(...zones: readonly (string | undefined)[]): string {
  return zones.find((zone) => zone !== undefined && zone !== "") ?? "UTC";
}
