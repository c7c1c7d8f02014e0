/** Reads what a handover is made of. */
import { isInForce } from "../alerting/acknowledgement.ts";
import type { Document } from "../alerting/document.ts";
import { handoverOf } from "../alerting/handover.ts";
import { type Incident, incidentsOf, widestSubjects } from "../alerting/incident.ts";
import { namesFrom } from "../alerting/incident-words.ts";
import { maintenanceNow } from "../alerting/maintenance.ts";
import { type Clock, DAY_MS, type Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import type { StoredEpisode } from "../store/episodes.ts";
import type { Store } from "../store/store.ts";
import { type EpisodesSource, readEpisodes } from "./read-episodes.ts";

export interface HandoverSource extends EpisodesSource {
  readonly store: Pick<
    Store,
    "episodes" | "shards" | "firing" | "acks" | "silences" | "log" | "inventory" | "shiftNotes"
  >;
  readonly clock: Clock;
}

/** Flapping that began before a shift is one incident with what is in it. */
const BEFORE_MS = DAY_MS;
/** Subjects whose decision logs are read, and of each incident. */
const [MOST_SUBJECTS, SUBJECTS_EACH] = [400, 4];

/** The handover of a span of time, with times in this zone. */
export async function readHandover(
  { clock, ...source }: HandoverSource,
  span: Interval,
  timezone: string,
): Promise<Document> {
  const { store, config } = source;
  const now = clock.now();
  const [incidents, alerts, acks, silences, notes] = await Promise.all([
    readIncidents(source, span, now),
    store.firing(),
    store.acks.read(),
    store.silences.read(now),
    store.shiftNotes.read(span),
  ]);
  // What was notified of the widest subjects is of all.
  const subjects = incidents.flatMap((one) => widestSubjects(one, SUBJECTS_EACH));
  return handoverOf({
    ...{ span, now, timezone, incidents, silences, notes },
    alerts: new Map(alerts.map((alert) => [alert.id, alert])),
    acknowledgements: new Map([...acks].filter(([, ack]) => isInForce(ack, now))),
    lines: await store.log.read(subjects.slice(0, MOST_SUBJECTS), span.from - BEFORE_MS),
    maintenance: maintenanceNow(config.maintenance ?? [], now),
    names: namesFrom(store.inventory),
  });
}

/** Incidents that were open in a span of time, the newest first. */
async function readIncidents(
  source: EpisodesSource,
  { from, to }: Interval,
  now: Instant,
): Promise<Incident<StoredEpisode>[]> {
  const all = incidentsOf(await readEpisodes(source, from - BEFORE_MS, now));
  return all.filter(({ startsAt, endsAt }) => startsAt <= to && (endsAt === undefined || endsAt >= from));
}
