/** Uptime as a strip of days: a bar each, and every figure in words behind it, hour by hour where hours are kept. */
import type { Instant } from "../../lib/clock.ts";
import { counted, percent } from "../../lib/format.ts";
import { html, type Markup } from "../../lib/markup.ts";
import { inZone } from "../../lib/when.ts";
import { type UptimeDay, type UptimeHour, uptimeOver } from "./uptime-days.ts";

/** From which ratio on a day counts as good, and as fair. */
const GOOD = 0.97;
const FAIR = 0.95;

const [BAR, GAP, HEIGHT] = [10, 3, 40] as const;

export interface Strip {
  readonly days: readonly UptimeDay[];
  /** IANA name of the zone that days and hours are told in. */
  readonly timezone: string;
  /** `its uptime`, say, for those who do not see it. */
  readonly title: string;
}

export function uptimeSection({ days, timezone, title }: Strip): Markup {
  const known = days.filter(({ ratio }) => ratio !== undefined);
  if (known.length === 0) {
    return html`<section aria-labelledby="uptime"><h2 id="uptime">${title}</h2><p class="soft">No day of it is known yet.</p></section>
`;
  }
  const said = summary(days, timezone);
  const bars = days.map((day, i) => bar(day, i, timezone));
  const width = days.length * (BAR + GAP) - GAP;
  const first = days.findIndex(({ ratio }) => ratio !== undefined);
  const rows = days.slice(first).toReversed();
  return html`<section aria-labelledby="uptime"><h2 id="uptime">${title}</h2><div class="panel">
<svg class="strip" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${said}">${bars}</svg>
<p class="ends" aria-hidden="true"><span>${dayName(days[0]?.from, timezone)}</span><span>today</span></p><p>${said}</p>
<details id="days"><summary>Day by day</summary><div class="days">${rows.map((day) => dayRow(day, timezone))}</div></details></div></section>
`;
}

/** `99.1 % over 30 days; lowest 81 % on Tue 3 Nov; 4 days not known.` */
function summary(days: readonly UptimeDay[], timezone: string): string {
  const known = days.filter(({ ratio }) => ratio !== undefined);
  const [first, ...rest] = known;
  const lowest = rest.reduce((low, day) => ((day.ratio ?? 1) < (low?.ratio ?? 1) ? day : low), first);
  const below =
    lowest && (lowest.ratio ?? 1) < 1
      ? `; lowest ${percent(lowest.ratio)} on ${dayName(lowest.from, timezone)}`
      : "";
  const missing = days.length - known.length;
  const unknown = missing === 0 ? "" : `; ${counted(missing, "day")} not known`;
  return `${percent(uptimeOver(days))} over ${counted(known.length, "day")}${below}${unknown}.`;
}

/** The part that is missing from the top grows with the root of what was lost: 1 % can be seen, and so can 50 %. */
function bar({ from, ratio }: UptimeDay, i: number, timezone: string): Markup {
  const x = i * (BAR + GAP);
  const words = html`<title>${dayName(from, timezone)}: ${ratio === undefined ? "not known" : percent(ratio)}</title>`;
  if (ratio === undefined) {
    return html`<g>${words}<rect class="none" x="${x}" y="${HEIGHT - 6}" width="${BAR}" height="6"/></g>
`;
  }
  const height = Math.max(2, Math.round(HEIGHT * (1 - Math.sqrt(1 - Math.min(1, Math.max(0, ratio))))));
  return html`<g>${words}<rect class="track" x="${x}" y="0" width="${BAR}" height="${HEIGHT}"/><rect class="${rankOf(ratio)}" x="${x}" y="${HEIGHT - height}" width="${BAR}" height="${height}"/></g>
`;
}

function rankOf(ratio: number): "good" | "fair" | "poor" {
  if (ratio >= GOOD) return "good";
  return ratio >= FAIR ? "fair" : "poor";
}

function dayRow({ day, from, ratio, hours }: UptimeDay, timezone: string): Markup {
  const said = html`<span>${dayName(from, timezone)}</span> <strong>${ratio === undefined ? "not known" : percent(ratio)}</strong>`;
  if (hours.length === 0)
    return html`<p>${said}</p>
`;
  const cells = hours.map((hour) => hourCell(hour, timezone));
  return html`<details id="day-${day}"><summary>${said}</summary><ol class="hours">${cells}</ol></details>
`;
}

function hourCell({ at, ratio, expected }: UptimeHour, timezone: string): Markup {
  const clock = inZone(at, timezone).toFormat("HH:mm");
  const words = !expected ? "off schedule" : ratio === undefined ? "not known" : percent(ratio);
  const rank = ratio === undefined ? "none" : rankOf(ratio);
  return html`<li class="${rank}"><span>${clock}</span> ${words}</li>`;
}

function dayName(at: Instant | undefined, timezone: string): string {
  return at === undefined ? "" : inZone(at, timezone).toFormat("ccc d LLL");
}
