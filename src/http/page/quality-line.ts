/** The quality of a recording's last week as a line, a point per hour. */
import { type QualityHistory, type QualityHour, qualityHours } from "../../health/quality.ts";
import type { Instant } from "../../lib/clock.ts";
import { counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { inZone } from "../../lib/when.ts";

const [STEP, HEIGHT] = [2, 40] as const;

/** Nothing where no quality was read. `timezone` is an IANA name. */
export function qualitySection(history: QualityHistory | undefined, now: Instant, timezone: string): Markup {
  const hours = history ? qualityHours(history, now) : [];
  if (hours.length === 0) return nothing;
  const words = summary(hours, timezone);
  const first = inZone(hours[0]?.at ?? now, timezone).toFormat("ccc d LLL");
  const viewBox = `0 -2 ${(hours.length - 1) * STEP} ${HEIGHT + 4}`;
  const lines = segments(hours).map(
    (points) => html`<polyline points="${points.map(([x, y]) => `${x},${y}`).join(" ")}"/>`,
  );
  return html`<section aria-labelledby="quality"><h2 id="quality">Quality of the last 7 days</h2><div class="panel">
<svg class="strip line" viewBox="${viewBox}" preserveAspectRatio="none" role="img" aria-label="${words}">
${lines}</svg>
<p class="ends" aria-hidden="true"><span>${first}</span><span>now</span></p><p>${words}</p></div></section>
`;
}

/** `Between about 61 % and 98 %; lowest Tue 3 Nov 14:00; 12 hours not known.` */
function summary(hours: readonly QualityHour[], timezone: string): string {
  const known = hours.flatMap(({ at, quality }) => (quality === undefined ? [] : [{ at, quality }]));
  const sorted = known.toSorted((a, b) => a.quality - b.quality);
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (!lowest || !highest) return "";
  const missing = hours.length - known.length;
  const unknown = missing === 0 ? "" : `; ${counted(missing, "hour")} not known`;
  if (about(lowest.quality) === about(highest.quality)) return `About ${about(lowest.quality)} all the time${unknown}.`;
  const when = inZone(lowest.at, timezone).toFormat("ccc d LLL HH:00");
  return `Between about ${about(lowest.quality)} and ${about(highest.quality)}; lowest ${when}${unknown}.`;
}

function about(quality: number): string {
  return `${Math.round(quality * 100)} %`;
}

/** Points of consecutive known hours; a single one is a short dash. */
function segments(hours: readonly QualityHour[]): (readonly [x: number, y: number])[][] {
  const found: (readonly [number, number])[][] = [];
  let open: (readonly [number, number])[] | undefined;
  for (const [i, { quality }] of hours.entries()) {
    if (quality === undefined) {
      open = undefined;
      continue;
    }
    const point = [i * STEP, Math.round(HEIGHT * (1 - quality) * 10) / 10] as const;
    if (open) open.push(point);
    else {
      open = [[point[0] - 1, point[1]], point];
      found.push(open);
    }
  }
  return found;
}
