/** Uptime as a strip of bars and quality as a line, with every figure in words as well. */
import type { Tone } from "../../alerting/tone.ts";
import type { Rule } from "../../health/model.ts";
import { type QualityHistory, type QualityHour, qualityHours } from "../../health/quality.ts";
import { highestThreshold } from "../../health/rule.ts";
import type { Instant } from "../../lib/clock.ts";
import { humanDuration } from "../../lib/duration.ts";
import { counted, exactPercent, percent } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { inZone } from "../../lib/when.ts";
import { PERIOD_DAYS } from "./history.ts";
import { section } from "./listing.ts";
import { type UptimeDay, uptimeOver } from "./uptime-days.ts";

/** Least ratios of a good and a fair day. */
const [GOOD, FAIR] = [0.97, 0.95] as const;

const [BAR, GAP, STEP, HEIGHT] = [10, 3, 2, 60] as const;

/** Ratios from 0 to 1 as ordinates; that of uptime shows both 1 % and 50 % of loss, as its square root. */
const SCALES = {
  uptime: { y: (ratio: number) => HEIGHT * Math.sqrt(1 - bounded(ratio)), ticks: [1, 0.9, 0.5, 0] },
  quality: { y: (ratio: number) => HEIGHT * (1 - bounded(ratio)), ticks: [1, 0.5, 0] },
} as const;

function bounded(ratio: number): number {
  return Math.min(1, Math.max(0, ratio));
}

/** Below these, ratios 0–1, alerts fire; undefined without such a rule. */
export type Thresholds = { readonly uptime: number | undefined; readonly quality: number | undefined };

/** The highest of each kind. */
export function thresholdsOf(rules: readonly Rule[] = []): Thresholds {
  return { uptime: highestThreshold(rules, "overall_uptime"), quality: highestThreshold(rules, "average_quality") };
}

/** A bar per day; by day and, where hours are stored, by hour on request. `timezone` is an IANA name. */
export function uptimeSection(days: readonly UptimeDay[], timezone: string, threshold?: number): Markup {
  const heading = `Uptime of the last ${PERIOD_DAYS} days`;
  const first = days.findIndex(({ ratio }) => ratio !== undefined);
  if (first < 0) return section("uptime", heading, html`<p class="soft">No day is known yet.</p>`);
  const chart = chartOf("uptime", uptimeSummary(days, timezone), {
    width: days.length * (BAR + GAP) - GAP,
    threshold,
    drawn: days.map((day, i) => bar(day, i * (BAR + GAP), timezone)),
    ends: [dayName(days[0]?.from ?? 0, timezone), "today"],
  });
  const rows = days.slice(first).toReversed();
  const each = rows.map((day) => dayRow(day, timezone));
  return section(
    "uptime",
    heading,
    html`<div class="panel">${chart}
<details id="days"><summary>Day by day</summary><div class="days">${each}</div></details></div>`,
  );
}

/** The last week, a point per hour; nothing where no quality was read. */
export function qualitySection(
  history: QualityHistory | undefined,
  now: Instant,
  timezone: string,
  threshold?: number,
): Markup {
  const hours = history ? qualityHours(history, now) : [];
  if (hours.length === 0) return nothing;
  const drawing = chartOf("quality", qualitySummary(hours, timezone), {
    width: (hours.length - 1) * STEP,
    threshold,
    drawn: linesOf(hours),
    ends: [dayName(hours[0]?.at ?? now, timezone), "now"],
  });
  return section("quality", "Quality of the last 7 days", html`<div class="panel">${drawing}</div>`);
}

interface Drawing {
  readonly width: number;
  readonly threshold: number | undefined;
  readonly drawn: readonly Markup[];
  readonly ends: readonly [first: string, last: string];
}

/** With its axis in per cent, and a line at the threshold. */
function chartOf(kind: keyof typeof SCALES, words: string, { width, threshold, drawn, ends }: Drawing): Markup {
  const { y, ticks } = SCALES[kind];
  const labels = ticks.map((tick) => html`<text x="30" y="${round(y(tick) + 3)}">${percentOf(tick)}</text>`);
  const at = threshold === undefined ? 0 : round(y(threshold));
  const line = threshold === undefined ? nothing : html`<path class="limit" d="M0 ${at}H${width}"/>`;
  const below = html`<p class="soft">The line is at ${exactPercent(threshold ?? 0)}, below which alerts fire.</p>`;
  const [first, last] = ends;
  return html`<div class="chart"><svg class="axis" viewBox="0 -6 32 ${HEIGHT + 12}" aria-hidden="true">${labels}</svg>
<svg class="strip ${kind}" viewBox="0 -6 ${width} ${HEIGHT + 12}" preserveAspectRatio="none" role="img" aria-label="${words}">
${drawn}${line}</svg></div>
<p class="ends" aria-hidden="true"><span>${first}</span><span>${last}</span></p><p>${words}</p>
${threshold === undefined ? nothing : below}`;
}

function percentOf(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}

function round(y: number): number {
  return Math.round(y * 10) / 10;
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
  const [low, high] = [lowest, highest].map(({ quality }) => percentOf(quality));
  const first = hours.findIndex(({ quality }) => quality !== undefined);
  const hourName = (at: Instant) => inZone(at, timezone).toFormat("ccc d LLL HH:00");
  const since = first === 0 ? "" : `; known since ${hourName(hours[first]?.at ?? 0)}`;
  const unknown = `${since}${unknownPart(hours.length - first - known.length, "hour")}`;
  if (low === high) return `About ${low} all the time${unknown}.`;
  const when = hourName(lowest.at);
  return `Between about ${low} and ${high}; lowest ${when}${unknown}.`;
}

function unknownPart(missing: number, noun: string): string {
  return missing === 0 ? "" : `; ${counted(missing, noun)} not known`;
}

function bar(day: UptimeDay, x: number, timezone: string): Markup {
  const { from, ratio, plannedMs } = day;
  const title = html`<title>${dayName(from, timezone)}: ${known(ratio)}${plannedWords(day)}</title>`;
  const mark = plannedMs ? html`<rect class="planned" x="${x}" y="${HEIGHT - 4}" width="${BAR}" height="4"/>` : nothing;
  if (ratio === undefined)
    return html`<g>${title}<rect class="unknown" x="${x}" y="${HEIGHT - 6}" width="${BAR}" height="6"/>${mark}</g>`;
  const height = Math.max(2, Math.round(HEIGHT - SCALES.uptime.y(ratio)));
  return html`<g>${title}<rect class="track" x="${x}" y="0" width="${BAR}" height="${HEIGHT}"/>
<rect class="${rankOf(ratio)}" x="${x}" y="${HEIGHT - height}" width="${BAR}" height="${height}"/>${mark}</g>`;
}

/** A line per span of known hours; it begins with a short dash, so that a single hour is visible. */
function linesOf(hours: readonly QualityHour[]): Markup[] {
  const points = hours.flatMap(({ quality }, i) => {
    if (quality === undefined) return [];
    const y = round(SCALES.quality.y(quality));
    const dash = hours[i - 1]?.quality === undefined ? `|${i * STEP - 1},${y} ` : "";
    return [`${dash}${i * STEP},${y}`];
  });
  const spans = points.join(" ").split(/ ?\|/).slice(1);
  return spans.map((span) => html`<polyline points="${span}"/>`);
}

function rankOf(ratio: number | undefined): Tone {
  if (ratio === undefined) return "unknown";
  if (ratio >= GOOD) return "good";
  return ratio >= FAIR ? "warning" : "critical";
}

function plannedWords({ plannedMs = 0 }: UptimeDay): string {
  return plannedMs === 0 ? "" : `, ${humanDuration(plannedMs)} of maintenance`;
}

function dayRow(one: UptimeDay, timezone: string): Markup {
  const { day, from, ratio, hours } = one;
  const words = html`<span>${dayName(from, timezone)}</span> <strong>${known(ratio)}</strong>${plannedWords(one)}`;
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
