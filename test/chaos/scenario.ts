/** Short stories of one camera in Leeds, put before the audit: seconds of what was true and of what was told. */
import { type Audit, type AuditInput, audit, type VerdictKind } from "../../bench/chaos/audit.ts";
import type { Telling } from "../../bench/chaos/messages.ts";
import type { Held } from "../../bench/chaos/suppressions.ts";

const START = Date.UTC(2026, 10, 20, 14, 0);
const second = (n: number) => START + 1_000 * n;

/** Accepted at a second; `since`: the second it says the outage began. */
export type Line = readonly [at: number, says: Telling["says"], since: number, lasted?: number];

export interface Story {
  /** Dark from second to second. */
  readonly dark?: readonly (readonly [from: number, to: number])[];
  readonly told?: readonly Line[];
  readonly other?: readonly Line[];
  readonly crashes?: readonly number[];
  readonly redisDown?: readonly (readonly [from: number, to: number])[];
  /** Seconds in which the service said nothing that counts. */
  readonly blind?: readonly (readonly [from: number, to: number])[];
  /** Seconds in which nothing that was answered was judged. */
  readonly unjudged?: readonly (readonly [from: number, to: number])[];
  readonly unreadable?: readonly string[];
  /** Seconds of its uploading schedule. */
  readonly within?: readonly (readonly [from: number, to: number])[];
  readonly lateMs?: number;
  /** Silenced, or acknowledged, surely from second to second. */
  readonly held?: readonly (readonly [kind: Held["kind"], from: number, to: number])[];
}

const heldOf = ([kind, from, to]: NonNullable<Story["held"]>[number]): Held => ({
  kind,
  recordingIds: ["c1"],
  maybeFrom: second(from) - 100,
  surelyFrom: second(from),
  surelyUntil: second(to),
  maybeUntil: second(to) + 100,
});

const tellings = (lines: readonly Line[], subject: string, from: number): Telling[] =>
  lines.map(([at, says, since, lasted = at - since], i) => ({
    at: second(at) + 40,
    integration: "slack/0",
    message: from + i,
    subject,
    says,
    lastedMs: 1_000 * Math.floor(lasted),
    beganMinute: new Date(second(since)).getUTCMinutes(),
  }));

/** What the audit finds. */
export function judged(story: Story): Audit {
  const spans = (pairs: Story["dark"] = []) =>
    pairs.map(([from, to]) => ({ from: second(from), to: second(to) }));
  const answers = Array.from({ length: 300 }, (_, i) => second(i) + 500);
  const hours = story.within && spans(story.within);
  const input: AuditInput = {
    recordings: [
      {
        id: "c1",
        name: "Till 3",
        locationId: "l1",
        place: "Leeds",
        integrations: ["slack/0"],
        within: hours,
      },
    ],
    ledger: (story.dark ?? []).flatMap(([from, to]) => [
      { at: second(from), recordingId: "c1", status: "offline" },
      { at: second(to), recordingId: "c1", status: "online" },
    ]),
    tellings: [
      ...tellings(story.told ?? [], "Till 3", 0),
      ...tellings(story.other ?? [], "Analytics service", 100),
    ],
    unreadable: story.unreadable ?? [],
    answers: new Map([["l1", answers]]),
    judged: new Map([
      ["l1", answers.filter((at) => !spans(story.unjudged).some(({ from, to }) => at >= from && at <= to))],
    ]),
    crashes: (story.crashes ?? []).map(second),
    blind: spans(story.blind),
    redisDown: spans(story.redisDown),
    disturbed: (story.crashes ?? []).map((at) => ({ from: second(at), to: second(at + 10) })),
    rule: { intervalMs: 1_000, forMs: 2_000, keepFiringForMs: 2_000, lateMs: story.lateMs ?? 60_000 },
    flapping: { high: 0.235, low: 0.23 },
    held: (story.held ?? []).map(heldOf),
    end: second(300),
  };
  return audit(input);
}

/** The kinds of its verdicts. */
export const kinds = (story: Story): VerdictKind[] => judged(story).verdicts.map(({ kind }) => kind);
/** An outage of 20 s, its beginning and its end as they should be told. */
export const outage = [10, 30] as const;
export const begin: Line = [13, "firing", 10];
export const end: Line = [33, "recovered", 10, 20];
