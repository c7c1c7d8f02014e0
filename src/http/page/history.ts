/** The history of a recording or a location: its episodes and its decision log. */
import { type LogLine, sentenceOf } from "../../alerting/decision-log.ts";
import { type FoldedDecisions, foldDecisions } from "../../alerting/fold-decisions.ts";
import { visitsRange } from "../../alerting/uncounted.ts";
import type { EndReason, Subject } from "../../health/alert.ts";
import { DAY_MS, type Instant } from "../../lib/clock.ts";
import { counted, nameOf, nameWithin } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { span } from "../../lib/when.ts";
import type { Listing } from "../paging.ts";
import type { ApiEpisode } from "../v1/episodes.ts";
import { alertPageLink, homeLink, type Root, recordingLink } from "./links.ts";
import { type ListingColumn, listed, section, tableOf } from "./listing.ts";
import { BRIEF_MS, type Moment, timeAt } from "./when.ts";

/** The days for which episodes and uptime are shown. */
export const PERIOD_DAYS = 30;

export const DECISION_LOG_DAYS = 7;

/** The instants from which on episodes and the decision log are shown. */
export function historySince(now: Instant) {
  return { episodes: now - PERIOD_DAYS * DAY_MS, decisions: now - DECISION_LOG_DAYS * DAY_MS };
}

interface Section {
  readonly moment: Moment;
  /** IANA zone of its times. */
  readonly timezone: string;
}

interface EpisodeTable {
  readonly moment: Moment;
  timezoneOf(row: ApiEpisode): string;
  readonly root: Root;
  readonly caption: string;
  /** Their recordings and locations are shown; false on a page about one of them. */
  readonly withPlace: boolean;
}

const REASONS: Readonly<Record<EndReason, string>> = {
  recovered: "recovered",
  no_longer_watched: "no longer watched",
  not_sent_here: "not sent here any more",
  rule_removed: "its rule was removed",
  rule_changed: "its rule was changed",
  dropped_together: "most locations counted little at once",
  expired: "expired; whether it recovered is not known",
};

/** `recovered`, `recovered; planned: stock-take`; without an end while it lasts. */
export function endWords({ endReason, planned }: Pick<ApiEpisode, "endReason" | "planned">): string {
  const end = endReason === null ? [] : [REASONS[endReason]];
  return [...end, ...(planned === null ? [] : [`planned: ${nameOf(planned, "maintenance", 60)}`])].join("; ");
}

export function episodeTable(
  items: readonly ApiEpisode[],
  { moment, timezoneOf, root, caption, withPlace }: EpisodeTable,
): Markup {
  const isCosted = items.some(({ uncounted }) => visitsRange(uncounted) !== "");
  const columns: readonly ListingColumn[] = [
    ["Alert"],
    ...(withPlace ? [["Where"] as const] : []),
    ["Began", "began"],
    ["Ended", "ended"],
    ["Lasted", "lasted", "t"],
    ...(isCosted ? [["Uncounted", "visits uncounted", "t"] as const] : []),
    ["Reason"],
  ];
  const rows = items.map((row) => {
    const [from, to] = [Date.parse(row.startsAt), row.endsAt === null ? undefined : Date.parse(row.endsAt)];
    const isBrief = (to ?? moment.now) - from < BRIEF_MS;
    const name = nameOf(row.alertname, "alert", 80);
    const zone = timezoneOf(row);
    return [
      row.fingerprint === null ? html`${name}` : html`<a href="${alertPageLink(root, row.fingerprint)}">${name}</a>`,
      ...(withPlace ? [placeOf(row, root)] : []),
      timeAt(from, zone, moment, isBrief),
      to === undefined ? nothing : timeAt(to, zone, moment, isBrief),
      html`${span(from, to ?? moment.now)}`,
      ...(isCosted ? [html`${visitsRange(row.uncounted)}`] : []),
      endWords(row) === "" ? nothing : html`${endWords(row)}`,
    ];
  });
  return tableOf(caption, columns, rows);
}

function placeOf({ recording, location, locationId, subject }: ApiEpisode, root: Root): Markup {
  const around =
    locationId === null
      ? nothing
      : html`<a href="${homeLink(root, { location: locationId })}"><bdi>${nameOf(location ?? "", locationId)}</bdi></a>`;
  if (recording === null)
    return locationId === null ? html`${subject.kind === "service" ? "the service" : "–"}` : around;
  const own = html`<a href="${recordingLink(root, subject.id)}"><bdi>${nameOf(nameWithin(recording, location ?? ""), subject.id)}</bdi></a>`;
  return html`${own} <small>${around}</small>`;
}

interface EpisodeSectionOptions extends Section {
  link(cursor: string | undefined): string;
  readonly root: Root;
  readonly withPlace: boolean;
}

/** One page of the episodes, the newest first. */
export function episodeSection(
  listing: Listing<ApiEpisode>,
  { timezone, link, ...rest }: EpisodeSectionOptions,
): Markup {
  const caption = "Alerts, the newest first";
  const table = episodeTable(listing.items, { ...rest, caption, timezoneOf: () => timezone });
  const body = listed(listing, "alerts", link, table, "the newest first");
  return section("episodes", `Alerts of the last ${PERIOD_DAYS} days`, body);
}

/** `lenswatch why` shows older ones. */
const ENTRIES_SHOWN = 60;
/** The newest lines of an episode; there may be hundreds. */
const LINES_OF_ENTRY = 20;

interface DecisionLogOptions extends Section {
  readonly title: string;
  /** Lines about another kind of subject name it. */
  readonly of: Subject["kind"];
  /** The name of a subject, where the lines are of several. */
  readonly nameOf?: (subject: Subject) => string;
}

/** `lines` oldest first, as the log gives them; shown with the newest first, those of one episode folded. */
export function decisionLogSection(lines: readonly LogLine[], options: DecisionLogOptions): Markup {
  const all = foldDecisions(lines, (at) => options.moment.times.at(at, options.timezone));
  const shown = all.slice(-ENTRIES_SHOWN).reverse();
  const left = all.length - shown.length;
  const items = shown.map((entry) => decisionEntry(entry, options));
  const list = items.length === 0 ? html`<p class="soft">No decisions.</p>` : html`<ol class="decisions">${items}</ol>`;
  const more = html`<p class="soft">${counted(left, "older entry", "older entries")}: see <code>lenswatch why</code>.</p>`;
  return section("decisions", options.title, html`${list}${left === 0 ? nothing : more}`);
}

function decisionEntry({ subject, ruleId, steps, lines }: FoldedDecisions, options: DecisionLogOptions): Markup {
  const { moment, timezone } = options;
  const [first, last] = [lines[0]?.at ?? 0, lines.at(-1)?.at ?? 0];
  const kind = subject.kind === options.of ? nothing : html`<small>${subject.kind}</small> `;
  const about = options.nameOf ? html`<bdi>${options.nameOf(subject)}</bdi> · ` : kind;
  const isBrief = last - first < BRIEF_MS;
  const words = steps.map(({ at, words }, i) => {
    const isLater = i > 0 && (i === steps.length - 1 || at - (steps[i - 1]?.at ?? 0) >= 60_000);
    return html`${i > 0 ? " → " : ""}${isLater ? html`${timeAt(at, timezone, moment, isBrief)} ` : nothing}${cut(words, 300)}`;
  });
  const lead = timeAt(first, timezone, moment, isBrief && lines.length > 1);
  if (lines.length === 1) return html`<li>${lead} <span>${about}<bdi>${words}</bdi></span></li>`;
  const written = (at: Instant) => moment.times.at(at, timezone);
  const each = lines
    .slice(-LINES_OF_ENTRY)
    .map(
      (line) =>
        html`<li>${timeAt(line.at, timezone, moment, true)} <bdi>${cut(sentenceOf(line, written), 300)}</bdi></li>`,
    );
  const rule = ruleId === undefined ? nothing : html`<bdi>${cut(ruleId, 80)}</bdi>: `;
  return html`<li id="from-${first}-${ruleId ?? ""}">${lead}<details><summary>${about}${rule}<bdi>${words}</bdi></summary>
<ol>${each}</ol></details></li>`;
}
