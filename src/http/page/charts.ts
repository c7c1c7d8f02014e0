/** Uptime as a strip of bars and quality as a line, with every figure in words as well. */
import { type QualityHistory, type QualityHour, qualityHours } from "../../health/quality.ts";
import type { Instant } from "../../lib/clock.ts";
import { counted, percent } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { inZone } from "../../lib/when.ts";
import { PERIOD_DAYS } from "./history.ts";
import { type UptimeDay, uptimeOver } from "./uptime-days.ts";

/** Least ratios of a good and a fair day. */
const [GOOD, FAIR] = [0.97, 0.95] as const;

const [BAR, GAP, STEP, HEIGHT] = [10, 3, 2, 40] as const;

/** A bar per day; by day and, where hours are stored, by hour on request. `timezone` is an IANA name. */
export function uptimeSection(days: readonly UptimeDay[], timezone: string): Markup {
  const heading = html`<h2 id="uptime">Uptime of the last ${PERIOD_DAYS} days</h2>`;
  const first = days.findIndex(({ ratio }) => ratio !== undefined);
  if (first < 0)
    return html`<section aria-labelledby="uptime">${heading}<p class="soft">No day is known yet.</p></section>`;
  const chart = chartOf("strip", uptimeSummary(days, timezone), {
    viewBox: `0 0 ${days.length * (BAR + GAP) - GAP} ${HEIGHT}`,
    drawn: days.map((day, i) => bar(day, i * (BAR + GAP), timezone)),
    ends: [dayName(days[0]?.from ?? 0, timezone), "today"],
  });
  const rows = days.slice(first).toReversed();
  return html`<section aria-labelledby="uptime">${heading}<div class="panel">
${chart}
<details id="days"><summary>Day by day</summary>
<div class="days">${rows.map((day) => dayRow(day, timezone))}</div></details></div></section>`;
}

/** The last week, a point per hour; nothing where no quality was read. `timezone` is an IANA name. */
export function qualitySection(history: QualityHistory | undefined, now: Instant, timezone: string): Markup {
  const hours = history ? qualityHours(history, now) : [];
  if (hours.length === 0) return nothing;
  const chart = chartOf("strip line", qualitySummary(hours, timezone), {
    viewBox: `0 -2 ${(hours.length - 1) * STEP} ${HEIGHT + 4}`,
    drawn: linesOf(hours),
    ends: [dayName(hours[0]?.at ?? now, timezone), "now"],
  });
  return html`<section aria-labelledby="quality"><h2 id="quality">Quality of the last 7 days</h2><div class="panel">
${chart}</div></section>`;
}

type Drawing = { viewBox: string; drawn: readonly Markup[]; ends: readonly [first: string, last: string] };

function chartOf(kind: string, words: string, { viewBox, drawn, ends: [first, last] }: Drawing): Markup {
  return html`<svg class="${kind}" viewBox="${viewBox}" preserveAspectRatio="none" role="img" aria-label="${words}">
${drawn}</svg>
<p class="ends" aria-hidden="true"><span>${first}</span><span>${last}</span></p><p>${words}</p>`;
}

/** `99.1 % over 30 days; lowest 81 % on Tue 3 Nov; 4 days not known.` */
function uptimeSummary(days: readonly UptimeDay[], timezone: string): string {
  const known = days.flatMap(({ from, ratio }) => (ratio === undefined ? [] : [{ from, ratio }]));
  const [lowest] = known.toSorted((a, b) => a.ratio - b.ratio);
  const below =
    lowest && lowest.ratio < 1 ? `; lowest ${percent(lowest.ratio)} on ${dayName(lowest.from, timezone)}` : "";
  const unknown = unknownPart(days.length - known.length, "day");
  return `${percent(uptimeOver(days))} over ${counted(known.length, "day")}${below}${unknown}.`;
}

/** `Between about 61 % and 98 %; lowest Tue 3 Nov 14:00; 12 hours not known.` */
function qualitySummary(hours: readonly QualityHour[], timezone: string): string {
  const known = hours.flatMap(({ at, quality }) => (quality === undefined ? [] : [{ at, quality }]));
  const sorted = known.toSorted((a, b) => a.quality - b.quality);
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (!lowest || !highest) return "";
  const [low, high] = [lowest, highest].map(({ quality }) => `${Math.round(quality * 100)} %`);
  const unknown = unknownPart(hours.length - known.length, "hour");
  if (low === high) return `About ${low} all the time${unknown}.`;
  const when = inZone(lowest.at, timezone).toFormat("ccc d LLL HH:00");
  return `Between about ${low} and ${high}; lowest ${when}${unknown}.`;
}

function unknownPart(missing: number, noun: string): string {
  return missing === 0 ? "" : `; ${counted(missing, noun)} not known`;
}

/** The gap at the top grows with the square root of the loss, so that both 1 % and 50 % are visible. */
function bar({ from, ratio }: UptimeDay, x: number, timezone: string): Markup {
  const title = html`<title>${dayName(from, timezone)}: ${known(ratio)}</title>`;
  if (ratio === undefined)
    return html`<g>${title}<rect class="none" x="${x}" y="${HEIGHT - 6}" width="${BAR}" height="6"/></g>`;
  const height = Math.max(2, Math.round(HEIGHT * (1 - Math.sqrt(1 - Math.min(1, Math.max(0, ratio))))));
  return html`<g>${title}<rect class="track" x="${x}" y="0" width="${BAR}" height="${HEIGHT}"/>
<rect class="${rankOf(ratio)}" x="${x}" y="${HEIGHT - height}" width="${BAR}" height="${height}"/></g>`;
}

/** A line per span of known hours; it begins with a short dash, so that a single hour is visible. */
function linesOf(hours: readonly QualityHour[]): Markup[] {
  const points = hours.flatMap(({ quality }, i) => {
    if (quality === undefined) return [];
    const y = Math.round(HEIGHT * (1 - quality) * 10) / 10;
    const dash = hours[i - 1]?.quality === undefined ? `|${i * STEP - 1},${y} ` : "";
    return [`${dash}${i * STEP},${y}`];
  });
  const spans = points.join(" ").split(/ ?\|/).slice(1);
  return spans.map((span) => html`<polyline points="${span}"/>`);
}

function rankOf(ratio: number | undefined): "good" | "fair" | "poor" | "none" {
  if (ratio === undefined) return "none";
  if (ratio >= GOOD) return "good";
  return ratio >= FAIR ? "fair" : "poor";
}

function dayRow({ day, from, ratio, hours }: UptimeDay, timezone: string): Markup {
  const words = html`<span>${dayName(from, timezone)}</span> <strong>${known(ratio)}</strong>`;
  if (hours.length === 0) return html`<p>${words}</p>`;
  const cells = hours.map((hour) => hourCell(hour, timezone));
  return html`<details id="day-${day}"><summary>${words}</summary><ol class="hours">${cells}</ol></details>`;
}

function hourCell({ at, ratio, expected }: UptimeDay["hours"][number], timezone: string): Markup {
  const clock = inZone(at, timezone).toFormat("HH:mm");
  return html`<li class="${rankOf(ratio)}"><span>${clock}</span> ${expected ? known(ratio) : "off schedule"}</li>`;
}

function known(ratio: number | undefined): string {
  return ratio === undefined ? "not known" : percent(ratio);
}

function dayName(at: Instant, timezone: string): string {
  return inZone(at, timezone).toFormat("ccc d LLL");
}
