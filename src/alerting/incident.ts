/**
 * Incidents: what began together for one cause, with one id. They follow from the episodes alone, so that every process
 * and every page has the same ones, and nothing of them is stored. Pure.
 */
import { createHash } from "node:crypto";
import {
  type Alert,
  type EndReason,
  type GroupLabel,
  groupLabels,
  groupOfSubject,
  isBack,
  type ProblemKind,
  type Subject,
} from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { type Interval, lengthIn, union } from "../lib/intervals.ts";

/** One episode of an alert as incidents see it. */
export interface Episode {
  /** `key@firedAt`. */
  readonly id: string;
  readonly subject: Subject;
  readonly alertname?: string | undefined;
  readonly problem?: ProblemKind | undefined;
  readonly severity?: string | undefined;
  readonly locationId?: string | undefined;
  /** The values of the labels that recordings of several locations share. */
  readonly groups?: Readonly<Partial<Record<GroupLabel, string | undefined>>> | undefined;
  /** The recordings offline of a location or a group; of one that ended, the most that were. */
  readonly offline?: number | undefined;
  readonly startsAt: Instant;
  /** Undefined while it fires. */
  readonly endsAt?: Instant | undefined;
}

/** An episode as it ended. */
export interface EndedEpisode extends Episode {
  readonly endReason: EndReason | undefined;
  /** It recovered, and some of its recordings are offline, or not known to be online. */
  readonly isPartial?: true | undefined;
}

/** A stored alert as incidents see it. */
export function episodeOf(alert: Alert): EndedEpisode {
  const { id, subject, labels, facts, startsAt, endsAt, endReason } = alert;
  const groups = { camera_server: labels.camera_server, organisation: labels.organisation };
  const { problem } = facts;
  const offline = endsAt === undefined ? facts.offline : facts.most;
  return {
    id,
    subject,
    alertname: labels.alertname,
    problem,
    severity: labels.severity,
    locationId: labels.location_id,
    groups,
    offline: offline || undefined,
    startsAt,
    endsAt,
    endReason,
    ...(endReason === "recovered" && !isBack(alert) && { isPartial: true }),
  };
}

/** What caused an incident, where its episodes tell. */
export interface IncidentCause {
  readonly label: "location_id" | GroupLabel;
  readonly value: string;
}

export interface Incident<E extends Episode = Episode> {
  /** Short enough to be said: `I-4F2K7`. */
  readonly id: string;
  /** The first that began first; at least one. */
  readonly episodes: readonly E[];
  readonly cause: IncidentCause | undefined;
  readonly startsAt: Instant;
  /** Undefined while one of its episodes fires. */
  readonly endsAt: Instant | undefined;
}

/** Outages that begin so close together are one, if one place or cause has them. */
const TOGETHER_MS = 120_000;
/** A camera that goes offline again so soon is flapping; an outage that becomes that of a whole location so late is the same. */
const AGAIN_MS = 30 * 60_000;
/** Outages at so many places that begin together are one, where they are of one camera server or whole places. */
const MANY_PLACES = 3;
/** At so many places they are one anyway: unrelated ones are hardly ever so many. */
const STORM_PLACES = 10;

const OUTAGES: ReadonlySet<ProblemKind | undefined> = new Set<ProblemKind>([
  ...(["offline", "missing", "not_seen", "not_uploading", "location_offline"] as const),
  ...groupLabels.map((label) => `${label}_offline` as const),
]);

/** Incidents of these episodes, in any order; each episode is in one of them. The newest first. */
export function incidentsOf<E extends Episode>(episodes: Iterable<E>): Incident<E>[] {
  const sorted = [...new Map([...episodes].map((one) => [one.id, one])).values()].sort(byStart);
  const sets = new Sets();
  const outages = sorted.filter(({ problem }) => OUTAGES.has(problem));
  joinTogether(outages, sets);
  const taken: ReadonlySet<Episode> = new Set([...joinWider(outages, sets), ...joinMany(outages, sets)]);
  joinAgain(sorted, taken, sets);
  joinCounts(sorted, sets);
  const incidents = Map.groupBy(sorted, ({ id }) => sets.of(id)).values();
  return [...incidents].map(incidentOf).sort((a, b) => b.startsAt - a.startsAt || (a.id < b.id ? -1 : 1));
}

/** True of what looks like the id of an incident. */
export function isIncidentId(text: string): boolean {
  return /^I-[0-9A-Z]{5}$/i.test(text);
}

/** The incident that an id means, also where it was that of one that a wider cause took in. */
export function findIncident<E extends Episode>(
  incidents: readonly Incident<E>[],
  id: string,
): Incident<E> | undefined {
  const wanted = id
    .toUpperCase()
    .replace(/^(?:I-?)?/, "I-")
    .replaceAll("O", "0")
    .replaceAll("L", "1");
  const isNamed = ({ id: own }: Incident<E>) => own === wanted;
  return (
    incidents.find(isNamed) ?? incidents.find((one) => one.episodes.some((each) => incidentId(each.id) === wanted))
  );
}

/** The alerts that fire in the incident with this id; `ended`: earlier episodes. */
export function alertsOfIncident(id: string, alerts: readonly Alert[], ended: readonly Episode[]): Alert[] {
  const incidents = incidentsOf([...ended, ...alerts.map(episodeOf)]);
  const episodes = new Set(findIncident(incidents, id)?.episodes.map((one) => one.id));
  return alerts.filter((one) => episodes.has(one.id));
}

/** The subjects of an incident, locations and groups before recordings, this many at most. */
export function widestSubjects({ episodes }: Pick<Incident, "episodes">, most: number): Subject[] {
  const all = new Map(episodes.map((one) => [subjectKey(one), one.subject]));
  const rank = ({ kind }: Subject) => (kind === "recording" ? 1 : 0);
  return [...all.values()].sort((a, b) => rank(a) - rank(b)).slice(0, most);
}

/** The value of a label that all recordings of an episode have. */
export function labelIn({ subject, locationId, groups }: Episode, label: IncidentCause["label"]): string | undefined {
  if (label === "location_id") return locationId;
  const own = groupOfSubject(subject);
  return own?.label === label ? own.value : groups?.[label];
}

/** The recordings and locations of an incident's outages, each once. */
export function sizeOfIncident({ episodes }: Pick<Incident, "episodes">): IncidentSize {
  const outages = episodes.filter(({ problem }) => OUTAGES.has(problem));
  const recordings = Map.groupBy(
    outages.filter(({ subject }) => subject.kind === "recording"),
    ({ subject }) => subject.id,
  );
  const apart = Map.groupBy(recordings.values(), ([first]) => first?.locationId ?? "");
  const most = new Map<string, number>();
  for (const one of outages.filter(isWide))
    most.set(keyOf(scopeOf(one)), Math.max(one.offline ?? 0, most.get(keyOf(scopeOf(one))) ?? 0));
  const locations = new Set(outages.flatMap(({ locationId }) => locationId || []));
  const ofLocations = [...locations].map((id) =>
    Math.max(apart.get(id)?.length ?? 0, most.get(`location_id/${id}`) ?? 0),
  );
  const together = ofLocations.reduce((sum, n) => sum + n, 0);
  return { recordings: Math.max(together, ...most.values()), locations };
}

export interface IncidentSize {
  readonly recordings: number;
  readonly locations: ReadonlySet<string>;
}

/**
 * The times in which an incident was an outage, in order; of one that has no outage, or only other alerts by now, those
 * in which it had alerts. One that lasts has no end.
 */
export function spansOf({ episodes }: Pick<Incident, "episodes">): readonly Interval[] {
  const outages = episodes.filter(({ problem }) => OUTAGES.has(problem));
  const isOutage = outages.some(fires) || (outages.length > 0 && !episodes.some(fires));
  return union((isOutage ? outages : episodes).map((one) => ({ from: one.startsAt, to: endOf(one) })));
}

/** How often an incident came, at each of its locations: what was out once did not flap. */
export function timesOf({ episodes }: Pick<Incident, "episodes">): number {
  const places = Map.groupBy(episodes, ({ locationId = "" }) => locationId).values();
  return Math.min(...places.map((of) => spansOf({ episodes: of }).length));
}

/** The sum of the spans of an incident until now, ms. */
export function durationOf(incident: Pick<Incident, "episodes">, now: Instant): number {
  return lengthIn(spansOf(incident), { from: 0, to: now });
}

/** The id of the incident that begins with an episode: 25 bits, without letters that sound or look like others. */
function incidentId(episode: string): string {
  const hash = createHash("sha256").update(episode).digest().readUInt32BE(0);
  return `I-${[0, 5, 10, 15, 20].map((shift) => LETTERS[(hash >>> shift) & 31]).join("")}`;
}

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Episodes at one location that begin together. */
function joinTogether(outages: readonly Episode[], sets: Sets): void {
  const last = new Map<string, Episode>();
  for (const one of outages) {
    if (!one.locationId) continue;
    const before = last.get(one.locationId);
    if (before && one.startsAt - before.startsAt <= TOGETHER_MS) sets.join(before.id, one.id);
    last.set(one.locationId, one);
  }
}

/** Episodes that a wider one of their location or group takes in. Gives those. */
function joinWider<E extends Episode>(outages: readonly E[], sets: Sets): E[] {
  const wider = Map.groupBy(outages.filter(isWide), (one) => keyOf(scopeOf(one)));
  return outages.filter((one) => {
    const around = scopesAround(one).flatMap((scope) => widerThan(one, wider.get(keyOf(scope)) ?? []));
    for (const { id } of around) sets.join(id, one.id);
    return around.length > 0;
  });
}

/** The wider ones in which an episode begins; else the first that begins during it, and not much later. */
function widerThan<E extends Episode>(one: E, wider: readonly E[]): readonly E[] {
  const latest = Math.min(endOf(one), one.startsAt + AGAIN_MS);
  const around = wider.filter((other) => one.startsAt <= endOf(other) && other.startsAt <= latest);
  const before = around.filter(({ startsAt }) => startsAt <= one.startsAt);
  return before.length > 0 ? before : around.slice(0, 1);
}

/** Outages at many places that begin together: those of a camera server, or all of a storm. Gives them. */
function joinMany<E extends Episode>(outages: readonly E[], sets: Sets): E[] {
  const bursts: E[][] = [];
  for (const one of outages) {
    const burst = bursts.at(-1);
    if (burst?.[0] && one.startsAt - burst[0].startsAt <= TOGETHER_MS) burst.push(one);
    else bursts.push([one]);
  }
  return bursts.flatMap((burst) => {
    const whole = new Set(burst.filter(isWide).map(({ id }) => sets.of(id)));
    const servers = Map.groupBy(burst, (one) => labelIn(one, "camera_server") ?? "");
    servers.delete("");
    const many = [...servers.values()].filter(
      (of) => new Set(of.map(({ locationId }) => locationId)).size >= MANY_PLACES,
    );
    const places = new Set(burst.map(({ id }) => sets.of(id)));
    const isStorm = whole.size >= MANY_PLACES || places.size >= STORM_PLACES;
    const joined = isStorm ? [burst] : many;
    for (const of of joined) for (const { id } of of) sets.join(of[0]?.id ?? id, id);
    return joined.flat();
  });
}

/** Episodes of one subject that follow each other, begin together, or begin while another one explains them; none that a wider cause has. */
function joinAgain(sorted: readonly Episode[], taken: ReadonlySet<Episode>, sets: Sets): void {
  for (const same of Map.groupBy(sorted, subjectKey).values()) {
    let before: Episode | undefined;
    let outage: Episode | undefined;
    for (const one of same) {
      if (!taken.has(one)) {
        if (before && isAgain(one, before)) sets.join(before.id, one.id);
        if (outage && one.startsAt <= endOf(outage)) sets.join(outage.id, one.id);
        if (!before || endOf(one) >= endOf(before)) before = one;
      }
      const explains = OUTAGES.has(one.problem) || one.problem === "flapping";
      if (explains && (!outage || endOf(one) >= endOf(outage))) outage = one;
    }
  }
}

function isAgain({ startsAt }: Episode, before: Episode): boolean {
  const since = startsAt - endOf(before);
  return (since >= 0 && since <= AGAIN_MS) || startsAt - before.startsAt <= AGAIN_MS;
}

export const subjectKey = ({ subject }: Pick<Episode, "subject">) => `${subject.kind}/${subject.id}`;
const endOf = ({ endsAt = Infinity }: Episode) => endsAt;
export const fires = ({ endsAt }: Pick<Episode, "endsAt">) => endsAt === undefined;

/** Episodes of one rule about a location and its recordings that fire at the same time: those inhibit that. */
function joinCounts(sorted: readonly Episode[], sets: Sets): void {
  const counted = sorted.filter(({ problem, locationId }) => problem?.startsWith("counts_") && locationId);
  for (const at of Map.groupBy(counted, ({ alertname, locationId }) => `${alertname} ${locationId}`).values())
    for (const whole of at.filter(isWide))
      for (const one of at)
        if (one.startsAt <= endOf(whole) && whole.startsAt <= endOf(one)) sets.join(whole.id, one.id);
}

function isWide({ subject }: Episode): boolean {
  return subject.kind === "location" || subject.kind === "group";
}

function scopeOf({ subject }: Episode): IncidentCause {
  return groupOfSubject(subject) ?? { label: "location_id", value: subject.id };
}

/** The causes of a wider episode that may take this one in. */
function scopesAround(one: Episode): IncidentCause[] {
  const labels = ["location_id", ...groupLabels] as const;
  return labels.flatMap((label) => {
    const value = labelIn(one, label);
    const isOwn = isWide(one) && scopeOf(one).label === label;
    return value === undefined || value === "" || isOwn ? [] : { label, value };
  });
}

const keyOf = ({ label, value }: IncidentCause) => `${label}/${value}`;

/** The incident that these are, the first one first. */
export function incidentOf<E extends Episode>(episodes: readonly E[]): Incident<E> {
  const [first] = [...episodes].sort((a, b) => firedAt(a) - firedAt(b) || (a.id < b.id ? -1 : 1));
  const end = episodes.reduce((latest, one) => Math.max(latest, endOf(one)), 0);
  return {
    id: incidentId(first?.id ?? ""),
    episodes,
    cause: causeOf(episodes),
    startsAt: episodes[0]?.startsAt ?? 0,
    endsAt: end === Infinity ? undefined : end,
  };
}

/** The share of an incident's recordings that its cause has. */
const CAUSE_SHARE = 0.9;

/** The value of a label that nine in ten of an incident's recordings have, the narrowest; the location before the camera server. */
function causeOf(episodes: readonly Episode[]): IncidentCause | undefined {
  const recordings = episodes.filter(({ subject }) => subject.kind === "recording");
  const counted = recordings.length > 0 ? recordings : episodes;
  for (const label of ["location_id", "camera_server", "organisation"] as const) {
    const values = Map.groupBy(counted, (one) => labelIn(one, label) ?? "");
    const [largest] = [...values].sort(([, a], [, b]) => b.length - a.length);
    if (largest && largest[0] !== "" && largest[1].length >= CAUSE_SHARE * counted.length)
      return { label, value: largest[0] };
  }
  return undefined;
}

function firedAt({ id, startsAt }: Episode): Instant {
  return Number(id.slice(id.lastIndexOf("@") + 1)) || startsAt;
}

function byStart(a: Episode, b: Episode): number {
  return a.startsAt - b.startsAt || (a.id < b.id ? -1 : 1);
}

/** Sets that are joined: each has a name, that of one of its members. */
class Sets {
  readonly #parents = new Map<string, string>();

  of(id: string): string {
    let top = id;
    for (let next = this.#parents.get(top); next !== undefined; next = this.#parents.get(top)) top = next;
    for (let one = id; one !== top; ) {
      const next = this.#parents.get(one) ?? top;
      this.#parents.set(one, top);
      one = next;
    }
    return top;
  }

  join(a: string, b: string): void {
    const [of, into] = [this.of(b), this.of(a)];
    if (of !== into) this.#parents.set(of, into);
  }
}
