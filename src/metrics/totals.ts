/** Totals by location, organisation and camera server: right also where recordings have no series of their own. */
import { type RecordingStatus, recordingStatuses } from "../health/recording.ts";
import { type Inventory, type RecordingState, ROWS_PER_STEP } from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";
import { fleetRows, type MetricRow } from "./table.ts";
import { distinct, type ExpositionFormat, labelText, renderHead, renderSample } from "./text.ts";

/** A recording as it is now, and the groups that it belongs to. */
export interface Member {
  readonly id: string;
  readonly name: string | undefined;
  readonly locationId: string;
  readonly lastSeenAt: number | undefined;
  readonly averageQuality: number | undefined;
  readonly status: RecordingStatus;
  /** The ratio of 24 hours; undefined without a figure or a good reading. */
  readonly uptime: number | undefined;
  readonly organisation: string;
  readonly cameraServer: string;
  readonly alerts: RecordingState["alerts"];
}

/** The most groups of a kind that have series; those that are online are left out first. */
const MOST_GROUPS = 50_000;

interface Group {
  readonly id: string;
  readonly counts: Record<RecordingStatus, number>;
  readonly quality: Mean;
  readonly uptime: Mean;
}

interface Mean {
  sum: number;
  count: number;
}

interface Named {
  readonly group: Group;
  readonly labels: string;
}

interface Family {
  readonly row: MetricRow;
  readonly samples: (group: Group) => readonly (readonly [labels: string, value: number])[];
}

const statusLabels = {
  online: ',status="online"',
  offline: ',status="offline"',
  degraded: ',status="degraded"',
  unknown: ',status="unknown"',
} as const satisfies Record<RecordingStatus, string>;
const DAY_LABEL = ',window="24h"';

const kinds = {
  location: [
    { row: fleetRows.locationRecordings, samples: byStatus },
    { row: fleetRows.locationQuality, samples: ({ quality }) => [["", meanOf(quality)]] },
    { row: fleetRows.locationUptime, samples: ({ uptime }) => [[DAY_LABEL, meanOf(uptime)]] },
  ],
  organisation: [{ row: fleetRows.organisationRecordings, samples: byStatus }],
  camera_server: [{ row: fleetRows.cameraServerRecordings, samples: byStatus }],
} as const satisfies Record<string, readonly Family[]>;

type Kind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as Kind[];

/** Counts the recordings of one scrape. `mostGroups` is a smaller limit, for tests. */
export function createTotals(inventory: Inventory, mostGroups = MOST_GROUPS) {
  const groups = { location: createGroups(), organisation: createGroups(), camera_server: createGroups() };

  function add({ locationId, status, averageQuality, uptime, organisation, cameraServer }: Member): void {
    const location = groups.location.of(locationId);
    location.counts[status]++;
    groups.organisation.of(organisation).counts[status]++;
    groups.camera_server.of(cameraServer).counts[status]++;
    if (status !== "unknown") addTo(location.quality, averageQuality);
    addTo(location.uptime, uptime);
  }

  return {
    /** Each recording once. */
    add,
    /** Every family, in pieces of at most ROWS_PER_STEP groups. */
    *text(format: ExpositionFormat): Generator<string, void> {
      for (const kind of kindNames) {
        const named: Named[][] = [];
        for (const some of chunksOf(groups[kind].most(mostGroups), ROWS_PER_STEP)) {
          named.push(some.map((group) => ({ group, labels: groupLabels(kind, group.id, inventory) })));
          yield "";
        }
        for (const family of kinds[kind]) yield* familyText(family, named, format);
      }
    },
    /** Groups of each kind without series. */
    omitted: () => kindNames.map((kind) => [kind, Math.max(0, groups[kind].size() - mostGroups)] as const),
  };
}

function createGroups() {
  const groups = new Map<string, Group>();
  let last: Group | undefined;
  return {
    size: () => groups.size,
    /** The group of an id; recordings of one mostly follow each other. */
    of(id: string): Group {
      if (last?.id === id) return last;
      last = groups.get(id);
      if (last) return last;
      last = newGroup(id);
      groups.set(id, last);
      return last;
    },
    most(limit: number): Group[] {
      const all = [...groups.values()];
      if (all.length <= limit) return all;
      const isOnline = ({ counts }: Group) => Number(counts.offline + counts.degraded + counts.unknown === 0);
      return all.sort((a, b) => isOnline(a) - isOnline(b)).slice(0, limit);
    },
  };
}

function newGroup(id: string): Group {
  const counts = { online: 0, offline: 0, degraded: 0, unknown: 0 };
  return { id, counts, quality: { sum: 0, count: 0 }, uptime: { sum: 0, count: 0 } };
}

function addTo(mean: Mean, value: number | undefined): void {
  if (value === undefined || Number.isNaN(value)) return;
  mean.sum += value;
  mean.count++;
}

/** NaN without a value, which has no sample. */
function meanOf({ sum, count }: Mean): number {
  return sum / count;
}

/** `online` also where it is 0, so that a ratio of it has a value. */
function byStatus({ counts }: Group) {
  return recordingStatuses
    .filter((status) => status === "online" || counts[status] > 0)
    .map((status) => [statusLabels[status], counts[status]] as const);
}

/** The labels of a group; a location has its name too. */
export function groupLabels(kind: Kind, id: string, inventory: Inventory): string {
  if (kind !== "location") return labelText([kind], [id && distinct(id)]);
  return labelText(fleetRows.locationQuality.labels, [distinct(id), inventory.location(id)?.name || id]);
}

function* familyText({ row, samples }: Family, named: readonly Named[][], format: ExpositionFormat): Generator<string> {
  yield renderHead(row, format);
  for (const some of named) {
    const lines = some.flatMap(({ group, labels }) =>
      samples(group).map(([more, value]) => renderSample(row.name, labels + more, value)),
    );
    yield lines.join("");
  }
}
