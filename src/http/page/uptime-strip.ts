/** Uptime as a strip of bars, a day each, with every figure in words, by hour where hours are stored. */
import type { Instant } from "../../lib/clock.ts";
import { counted, percent } from "../../lib/format.ts";
import { html, type Markup } from "../../lib/markup.ts";
import { inZone } from "../../lib/when.ts";
import { type UptimeDay, type UptimeHour, uptimeOver } from "./uptime-days.ts";

/** Least ratios of a good and a fair day. */
const GOOD = 0.97;
const FAIR = 0.95;

const [BAR, GAP, HEIGHT] = [10, 3, 40] as const;

interface UptimeSectionOptions {
  readonly days: readonly UptimeDay[];
  /** IANA name of the zone of days and hours. */
  readonly timezone: string;
  readonly title: string;
}

export function uptimeSection({ days, timezone, title }: UptimeSectionOptions): Markup {
  const known = days.filter(({ ratio }) => ratio !== undefined);
  const heading = html`<h2 id="uptime">${title}</h2>`;
  if (known.length === 0)
    return html`<section aria-labelledby="uptime">${heading}<p class="soft">No day is known yet.</p></section>
`;
  const words = summary(days, timezone);
  const bars = days.map((day, i) => bar(day, i, timezone));
  const width = days.length * (BAR + GAP) - GAP;
  const first = days.findIndex(({ ratio }) => ratio !== undefined);
  const rows = days.slice(first).toReversed();
  return html`<section aria-labelledby="uptime">${heading}<div class="panel">
<svg class="strip" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${words}">
${bars}</svg>
<p class="ends" aria-hidden="true"><span>${dayName(days[0]?.from, timezone)}</span><span>today</span></p>
<p>${words}</p>
<details id="days"><summary>Day by day</summary>
<div class="days">${rows.map((day) => dayRow(day, timezone))}</div></details></div></section>
`;
}

/** `99.1 % over 30 days; lowest 81 % on Tue 3 Nov; 4 days not known.` */
function summary(days: readonly UptimeDay[], timezone: string): string {
  const known = days.filter(({ ratio }) => ratio !== undefined);
  const [first, ...rest] = known;
  const lowest = rest.reduce((low, day) => ((day.ratio ?? 1) < (low?.ratio ?? 1) ? day : low), first);
  const below =
    lowest && (lowest.ratio ?? 1) < 1 ? `; lowest ${percent(lowest.ratio)} on ${dayName(lowest.from, timezone)}` : "";
  const missing = days.length - known.length;
  const unknown = missing === 0 ? "" : `; ${counted(missing, "day")} not known`;
  return `${percent(uptimeOver(days))} over ${counted(known.length, "day")}${below}${unknown}.`;
}

/** The gap at the top grows with the square root of the loss, so that both 1 % and 50 % are visible. */
function bar({ from, ratio }: UptimeDay, i: number, timezone: string): Markup {
  const x = i * (BAR + GAP);
  const words = ratio === undefined ? "not known" : percent(ratio);
  const title = html`<title>${dayName(from, timezone)}: ${words}</title>`;
  if (ratio === undefined)
    return html`<g>${title}<rect class="none" x="${x}" y="${HEIGHT - 6}" width="${BAR}" height="6"/></g>
`;
  const height = Math.max(2, Math.round(HEIGHT * (1 - Math.sqrt(1 - Math.min(1, Math.max(0, ratio))))));
  return html`<g>${title}<rect class="track" x="${x}" y="0" width="${BAR}" height="${HEIGHT}"/>
<rect class="${rankOf(ratio)}" x="${x}" y="${HEIGHT - height}" width="${BAR}" height="${height}"/></g>
`;
}

function rankOf(ratio: number): "good" | "fair" | "poor" {
  if (ratio >= GOOD) return "good";
  return ratio >= FAIR ? "fair" : "poor";
}

function dayRow({ day, from, ratio, hours }: UptimeDay, timezone: string): Markup {
  const figure = ratio === undefined ? "not known" : percent(ratio);
  const words = html`<span>${dayName(from, timezone)}</span> <strong>${figure}</strong>`;
  if (hours.length === 0)
    return html`<p>${words}</p>
`;
  const cells = hours.map((hour) => hourCell(hour, timezone));
  return html`<details id="day-${day}"><summary>${words}</summary><ol class="hours">${cells}</ol></details>
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
