/** Counts as badges and as a table of locations. */
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
