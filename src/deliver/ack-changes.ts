/** Acknowledgements as people change them: set, withdrawn, noted. Each change is audited and in the decision log. */
import {
  type AckNote,
  type AckOutcome,
  type AckRequest,
  acknowledgementAfter,
  changedAckFrom,
  isInForce,
  lastChangeOf,
  type StoredAcknowledgement,
  undoneAck,
  withNote,
} from "../alerting/acknowledgement.ts";
import { type Audit, type AuditEntry, type AuditFacts, type AuditOrigin, personOf } from "../alerting/audit.ts";
import { fingerprint } from "../alerting/fingerprint.ts";
import { alertsOfIncident, isIncidentId } from "../alerting/incident.ts";
import type { Alert } from "../health/alert.ts";
import { chunksOf } from "../lib/chunks.ts";
import { type Clock, DAY_MS, type Instant } from "../lib/clock.ts";
import { cut } from "../lib/text.ts";
import type { AckChange } from "../store/acknowledgements.ts";
import type { Store } from "../store/store.ts";

export interface SuppressionChangesDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "silences" | "acks" | "firing"> & {
    readonly episodes: Pick<Store["episodes"], "endedSince">;
  };
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
  /** Is handed each change once it is stored. */
  readonly audit?: Audit;
}

/** The most characters of a line of the decision log. */
const DETAIL_CHARACTERS = 600;
/** The most acknowledgements changed at once: each takes two calls of Redis, and a request has seconds. */
const AT_ONCE = 50;

/** The first alert of an incident, which gives it its id, may have ended days before the others. */
const SEARCHED_DAYS = [1, 90];

/** The next acknowledgement of an alert: the new one (the stored one itself: no change), or why not. */
type NextAck = (stored: StoredAcknowledgement | undefined) => StoredAcknowledgement | RefusedAck;
type RefusedAck = Exclude<AckOutcome["outcome"], "done">;

/** The change as the logs have it. */
interface LoggedChange {
  readonly action: Extract<AuditEntry["action"], "acknowledged" | "ack_withdrawn" | "ack_noted" | "ack_undone">;
  /** Its author and text. */
  readonly author: string;
  readonly text: string;
  readonly now: Instant;
  readonly by: AuditOrigin;
}

export function createAckChanges(deps: SuppressionChangesDeps) {
  const { clock, store, wake } = deps;

  /** The alerts that fire with this fingerprint, or in the incident with this id. */
  async function named(wanted: string): Promise<Alert[]> {
    const firing = await store.firing();
    if (!isIncidentId(wanted)) return firing.filter(({ labels }) => fingerprint(labels) === wanted);
    for (const days of SEARCHED_DAYS) {
      const found = alertsOfIncident(wanted, firing, await store.episodes.endedSince(clock.now() - days * DAY_MS));
      if (found.length > 0) return found;
    }
    return [];
  }

  /** Changes the acknowledgements of these alerts; gives the outcome of each. */
  async function changeEach(alerts: readonly Alert[], next: NextAck, logged: LoggedChange): Promise<AckOutcome[]> {
    const outcomes: AckOutcome[] = [];
    const { all, gather } = gatherDue();
    const gathering = { ...deps, wake: gather };
    for (const some of chunksOf(alerts, AT_ONCE))
      outcomes.push(...(await Promise.all(some.map((alert) => changeOne(alert, next, logged, gathering)))));
    if (all.size > 0) await wake(all);
    return outcomes;
  }

  /** The outcome of all: done where one is, with an earlier acknowledgement if any had one. */
  async function change(alerts: readonly Alert[], next: NextAck, logged: LoggedChange): Promise<AckOutcome> {
    const outcomes = await changeEach(alerts, next, logged);
    const done = outcomes.filter((one) => one.outcome === "done");
    const made = done.find(({ before }) => before) ?? done[0];
    return made ? { ...made, alerts: done.length } : (outcomes[0] ?? { outcome: "not_firing" });
  }

  /** A change by somebody, now. */
  const deedOf = (action: LoggedChange["action"], by: AuditOrigin, author = personOf(by), text = ""): LoggedChange => ({
    action,
    author,
    text,
    now: clock.now(),
    by,
  });

  function acknowledging(request: AckRequest, by: AuditOrigin): [NextAck, LoggedChange] {
    const deed = deedOf("acknowledged", by, request.author, request.comment);
    return [(stored) => acknowledgementAfter(stored, request, deed.now), deed];
  }

  return {
    /**
     * Acknowledges alerts that fire with this fingerprint or in this incident, until they resolve or for `forMs`. The
     * latest person is in charge; the same again changes nothing.
     */
    acknowledge: async (wanted: string, request: AckRequest, by: AuditOrigin): Promise<AckOutcome> =>
      change(await named(wanted), ...acknowledging(request, by)),

    /** Acknowledges these alerts; gives the outcome of each. */
    acknowledgeEach: (alerts: readonly Alert[], request: AckRequest, by: AuditOrigin): Promise<AckOutcome[]> =>
      changeEach(alerts, ...acknowledging(request, by)),

    /** Undoes what their author changed of these alerts at `at`, where nobody has changed it since. */
    undoAckOfEach(alerts: readonly Alert[], at: Instant, by: AuditOrigin): Promise<AckOutcome[]> {
      const deed = deedOf("ack_undone", by);
      const isOwn = (stored: StoredAcknowledgement | undefined) => stored?.author === deed.author;
      return changeEach(alerts, (stored) => undoneAck(isOwn(stored) ? stored : undefined, deed.now, at), deed);
    },

    /** Reminders resume at their time; what was not notified is due at once. */
    async withdraw(wanted: string, by: AuditOrigin, author?: string): Promise<AckOutcome> {
      const deed = deedOf("ack_withdrawn", by, author);
      const next: NextAck = (stored) => {
        return stored && isInForce(stored, deed.now) ? { ...stored, until: deed.now } : "not_acknowledged";
      };
      return change(await named(wanted), next, deed);
    },

    /** Restores what was before the last change, once: of each that one press changed, and nobody since. */
    async undoAck(wanted: string, by: AuditOrigin, author?: string): Promise<AckOutcome> {
      const deed = deedOf("ack_undone", by, author);
      const [alerts, acks] = await Promise.all([named(wanted), store.acks.read()]);
      const at = lastChangeOf(alerts.map(({ id }) => acks.get(id)));
      return change(alerts, (stored) => undoneAck(stored, deed.now, at), deed);
    },

    /** Adds a note for others to read, also to an acknowledgement that ran out. */
    async note(wanted: string, said: Pick<AckNote, "author" | "text">, by: AuditOrigin): Promise<AckOutcome> {
      const deed = deedOf("ack_noted", by, said.author, said.text);
      const next: NextAck = (stored) =>
        stored ? (withNote(stored, { ...said, at: deed.now }) ?? "too_many_notes") : "not_acknowledged";
      return change(await named(wanted), next, deed);
    },
  };
}

async function changeOne(
  alert: Alert,
  next: NextAck,
  logged: LoggedChange,
  { store, wake, audit }: SuppressionChangesDeps,
): Promise<AckOutcome> {
  const { now } = logged;
  let outcome: AckOutcome = { outcome: "not_firing" };
  let entry: AuditEntry | undefined;
  const due = await store.acks.change(alert.id, now, (before) => {
    const made = next(before);
    entry = undefined;
    if (typeof made === "string") {
      outcome = { outcome: made };
      return undefined;
    }
    const isFinal = made === before || logged.action === "ack_undone";
    const after = isFinal ? made : changedAckFrom(before, made, now);
    outcome = { outcome: "done", alerts: 1, before: inForce(before, now), after: inForce(after, now) };
    if (after === before) return undefined;
    entry = ackEntry(alert, before, after, logged);
    return ackChange(alert, before, after, logged);
  });
  if (!due) return { outcome: "not_firing" };
  if (entry) audit?.(entry);
  if (due.size > 0) await wake(due);
  return outcome;
}

/** The earliest time at each integration, of several changes. */
function gatherDue() {
  const all = new Map<string, Instant>();
  const gather = async (due: ReadonlyMap<string, Instant>) => {
    for (const [integration, at] of due) all.set(integration, Math.min(at, all.get(integration) ?? at));
  };
  return { all, gather };
}

function inForce(ack: StoredAcknowledgement | undefined, now: Instant): StoredAcknowledgement | undefined {
  return ack && isInForce(ack, now) ? ack : undefined;
}

function ackChange(
  alert: Alert,
  before: StoredAcknowledgement | undefined,
  after: StoredAcknowledgement,
  logged: LoggedChange,
): AckChange {
  const { action, author, text, now } = logged;
  const ends = action === "acknowledged" || action === "ack_undone" ? { until: after.until, eta: after.eta } : {};
  const detail = cut(`${author}${text === "" ? "" : `: ${text}`}`, DETAIL_CHARACTERS);
  const { subject, ruleId } = alert;
  return {
    after,
    line: { subject, ruleId, at: now, reason: REASONS[action], detail, ...ends },
    isEarlier: before !== undefined && (after.until ?? Infinity) < (before.until ?? Infinity),
  };
}

const REASONS: Readonly<Record<LoggedChange["action"], string>> = {
  acknowledged: "ack_set",
  ack_withdrawn: "ack_withdrawn",
  ack_noted: "ack_noted",
  ack_undone: "ack_undone",
};

/** The facts have the names that the target, an id, does not tell. */
function ackEntry(
  { id: target, labels: { recording, location } }: Alert,
  before: StoredAcknowledgement | undefined,
  after: StoredAcknowledgement,
  { action, author, text, by }: LoggedChange,
): AuditEntry {
  const place: AuditFacts = { ...(recording && { recording }), ...(location && { location }) };
  const entry = { ...by, action, outcome: "done", target } as const;
  if (action === "ack_noted") return { ...entry, after: { ...place, author, note: text } };
  if (action === "ack_withdrawn") return { ...entry, before: { ...place, ...(before && ackFacts(before)) } };
  return { ...entry, before: before && ackFacts(before), after: { ...place, ...ackFacts(after) } };
}

function ackFacts({ author, comment, until, eta }: StoredAcknowledgement): AuditFacts {
  const iso = (at: Instant) => new Date(at).toISOString();
  return { author, comment, ...(until && { until: iso(until) }), ...(eta && { eta: iso(eta) }) };
}
