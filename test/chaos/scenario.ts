/** Scenarios of one recording in Leeds for the audit, in seconds. */
import { type Audit, type AuditInput, audit, type VerdictKind } from "../../bench/chaos/audit.ts";
import type { Notice } from "../../bench/chaos/messages.ts";
import type { KnownSuppression } from "../../bench/chaos/suppressions.ts";

const START = Date.UTC(2026, 10, 20, 14, 0);
const second = (n: number) => START + 1_000 * n;

/** A line accepted at a second; `since`: the start of the outage it shows. */
export type Line = readonly [at: number, kind: Notice["kind"], since: number, lasted?: number];

export interface Scenario {
  /** Outages, from second to second. */
  readonly offline?: readonly (readonly [from: number, to: number])[];
  readonly sent?: readonly Line[];
  readonly other?: readonly Line[];
  readonly crashes?: readonly number[];
  readonly redisDown?: readonly (readonly [from: number, to: number])[];
  /** Seconds without good answers of the service. */
  readonly unreachable?: readonly (readonly [from: number, to: number])[];
  /** Seconds in which no answer was evaluated. */
  readonly unjudged?: readonly (readonly [from: number, to: number])[];
  readonly unreadable?: readonly string[];
  /** Seconds of its uploading schedule. */
  readonly within?: readonly (readonly [from: number, to: number])[];
  readonly lateMs?: number;
  /** Silences and acknowledgements, certainly active from second to second. */
  readonly suppressions?: readonly (readonly [kind: KnownSuppression["kind"], from: number, to: number])[];
}

const suppressionOf = ([kind, from, to]: NonNullable<Scenario["suppressions"]>[number]): KnownSuppression => ({
  kind,
  recordingIds: ["c1"],
  maybeFrom: second(from) - 100,
  surelyFrom: second(from),
  surelyUntil: kind === "ack" && from === to ? Number.POSITIVE_INFINITY : second(to),
  maybeUntil: kind === "ack" && from === to ? Number.POSITIVE_INFINITY : second(to) + 100,
});

const notices = (lines: readonly Line[], subject: string, from: number): Notice[] =>
  lines.map(([at, kind, since, lasted = at - since], i) => ({
    at: second(at) + 40,
    integration: "slack/0",
    message: from + i,
    subject,
    kind,
    lastedMs: 1_000 * Math.floor(lasted),
    beganMinute: new Date(second(since)).getUTCMinutes(),
  }));

/** The audit of a scenario. */
export function judged(scenario: Scenario): Audit {
  const spans = (pairs: Scenario["offline"] = []) =>
    pairs.map(([from, to]) => ({ from: second(from), to: second(to) }));
  const answers = Array.from({ length: 300 }, (_, i) => second(i) + 500);
  const hours = scenario.within && spans(scenario.within);
  const input: AuditInput = {
    recordings: [
      { id: "c1", name: "Till 3", locationId: "l1", locationName: "Leeds", integrations: ["slack/0"], within: hours },
    ],
    ledger: (scenario.offline ?? []).flatMap(([from, to]) => [
      { at: second(from), recordingId: "c1", status: "offline" },
      { at: second(to), recordingId: "c1", status: "online" },
    ]),
    notices: [...notices(scenario.sent ?? [], "Till 3", 0), ...notices(scenario.other ?? [], "Analytics service", 100)],
    unreadable: scenario.unreadable ?? [],
    answers: new Map([["l1", answers]]),
    judged: new Map([
      ["l1", answers.filter((at) => !spans(scenario.unjudged).some(({ from, to }) => at >= from && at <= to))],
    ]),
    crashes: (scenario.crashes ?? []).map(second),
    unreachable: spans(scenario.unreachable),
    redisDown: spans(scenario.redisDown),
    disturbed: (scenario.crashes ?? []).map((at) => ({ from: second(at), to: second(at + 10) })),
    rule: { intervalMs: 1_000, forMs: 2_000, keepFiringForMs: 2_000, lateMs: scenario.lateMs ?? 60_000 },
    flapping: { high: 0.235, low: 0.23 },
    suppressions: (scenario.suppressions ?? []).map(suppressionOf),
    end: second(300),
  };
  return audit(input);
}

/** The kinds of its verdicts. */
export const kinds = (scenario: Scenario): VerdictKind[] => judged(scenario).verdicts.map(({ kind }) => kind);
/** An outage of 20 s, its start and its end as they should be notified. */
export const outage = [10, 30] as const;
export const begin: Line = [13, "firing", 10];
export const end: Line = [33, "recovered", 10, 20];
