/** Counts as badges, bars and a table of locations. */
import { type LocationSummary, occurring } from "../../alerting/overview.ts";
import { looks, statusTones } from "../../alerting/tone.ts";
import type { RecordingStatus } from "../../health/recording.ts";
import type { Tally } from "../../health/shard-overview.ts";
import type { RecordingState } from "../../health/shard-state.ts";
import { totalOf } from "../../health/status-counts.ts";
import { count, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { homeLink } from "./links.ts";
import { type ListingColumn, tableOf } from "./listing.ts";

const COLUMNS: readonly ListingColumn[] = [["Location"], ["Recordings"], ["Need attention", "need attention", "n"]];

/** For pages at `/`. */
export function locationTable(locations: readonly LocationSummary[], caption = "Locations, the worst first"): Markup {
  if (locations.length === 0) return nothing;
  const rows = locations.map(({ id, name, organisation, counts, were, needed }) => [
    html`<a href="${homeLink("./", { location: id })}"><bdi>${nameOf(name, id)}</bdi></a>
<span class="soft"><bdi>${organisation && nameOf(organisation, "")}</bdi></span>`,
    html`${countBadges({ counts, were })}<span class="soft">of ${count(totalOf(counts))}</span>`,
    needed === 0 ? nothing : html`${count(needed)}`,
  ]);
  return tableOf(caption, COLUMNS, rows);
}

/** A status in its colour, after its mark. */
export function badge(status: RecordingStatus, words: string = status, isLast = false): Markup {
  const tone = statusTones[status];
  return html`<span class="s ${tone}${isLast ? " last" : ""}"><span aria-hidden="true">${looks[tone].mark} </span>${words}</span>`;
}

/** `2 offline`, `4 online`, `3 unknown`, `3 were online`: badges of the statuses that occur, the worst first; then of last known ones. */
export function countBadges({ counts, were }: Tally): Markup[] {
  const past = (n: number) => (n === 1 ? "was" : "were");
  return [
    ...occurring(counts).map((status) => html`${badge(status, `${count(counts[status])} ${status}`)} `),
    ...occurring({ ...were, unknown: 0 }).map((status) => {
      return html`${badge(status, `${count(were[status])} ${past(were[status])} ${status}`, true)} `;
    }),
  ];
}

/** The status of a recording; of an unknown one, also the last known. */
export function statusBadges(state: Pick<RecordingState, "status">, status: RecordingStatus): Markup {
  if (status !== "unknown" || state.status === undefined) return badge(status);
  return html`${badge(status)} ${badge(state.status, `was ${state.status}`, true)}`;
}

/** The same as a bar, in addition to the words. */
export function shareBar({ counts, were }: Tally): Markup {
  const total = totalOf(counts);
  if (total === 0) return nothing;
  let x = 0;
  const known = { ...counts, unknown: were.unknown };
  const last = { ...were, unknown: 0 };
  const all = [known, last].flatMap((of) => occurring(of).map((status) => [status, of[status], of === last] as const));
  const parts = all.map(([status, n, isLast]) => {
    const width = (100 * n) / total;
    x += width;
    return html`<rect class="${statusTones[status]}${isLast ? " last" : ""}" x="${(x - width).toFixed(2)}" width="${width.toFixed(2)}" height="4"/>`;
  });
  return html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}
