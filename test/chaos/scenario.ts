/** Scenarios of one recording for the audit, as text: spans `10-30 60-80`, lines `13+10 33-10` (second, sign, begin). */
import { type Audit, type AuditInput, audit } from "../../bench/chaos/audit.ts";
import type { IncidentEvent } from "../../bench/chaos/audit-incidents.ts";
import type { AppLog, AppPost, AppRoot, Episode, Notice } from "../../bench/chaos/notices.ts";
import type { KnownSuppression } from "../../bench/chaos/suppressions.ts";
import { traceOf } from "../../src/alerting/conversation.ts";

const START = Date.UTC(2026, 10, 20, 14, 0);
export const second = (n: number) => START + 1_000 * n;
const NEVER = Number.POSITIVE_INFINITY;

const spans = (text = "") =>
  (text.match(/\S+/g) ?? []).map((span) => {
    const [from = 0, to = 0] = span.split("-").map(Number);
    return { from: second(from), to: second(to) };
  });

/** `13+10`: at second 13 as firing since second 10; `33-10`: as resolved. Lines joined by `,` are one message. */
function linesOf(text: string, integration: string, rule: string, first: number): Notice[] {
  return (text.match(/\S+/g) ?? []).flatMap((message, i) =>
    message.split(",").map((line): Notice => {
      const [, at = "", sign, begin = ""] = /^([\d.]+)([+-])([\d.]+)$/.exec(line) ?? [];
      const ended = sign === "+" ? undefined : second(Number(at) - 3);
      const recordingId = rule === "RecordingOffline" ? "c1" : "";
      const startsAt = second(Number(begin));
      const status = sign === "+" ? "firing" : "resolved";
      return {
        at: second(Number(at)) + 40,
        integration,
        message: first + i,
        rule,
        recordingId,
        status,
        startsAt,
        endsAt: ended,
      };
    }),
  );
}

export interface Scenario {
  /** When it was offline, and what the webhook, and the phone, accepted about it. */
  readonly offline?: string;
  readonly sent?: string;
  readonly phone?: string;
  /** Lines of an alert about no recording. */
  readonly self?: string;
  readonly silenced?: string;
  readonly acknowledged?: string;
  readonly crashes?: readonly number[];
  readonly redisDown?: string;
  readonly unreachable?: string;
  /** When no answer was evaluated. */
  readonly unjudged?: string;
  readonly lateMs?: number;
  readonly integrations?: readonly string[];
  readonly app?: AppLog;
  readonly incidents?: readonly IncidentEvent[];
}

/** The audit of a scenario. */
export function judged(scenario: Scenario): Audit {
  const answers = Array.from({ length: 300 }, (_, i) => second(i) + 500);
  const suppressionsOf = (kind: KnownSuppression["kind"], text?: string) =>
    spans(text).map(({ from, to }): KnownSuppression => {
      return { kind, recordingIds: ["c1"], maybeFrom: from - 100, surelyFrom: from, surelyUntil: to, maybeUntil: to };
    });
  const input: AuditInput = {
    recordings: [{ id: "c1", locationId: "l1", integrations: scenario.integrations ?? ["webhook/0"] }],
    ledger: spans(scenario.offline).flatMap(({ from, to }) => [
      { at: from, recordingId: "c1", status: "offline" },
      { at: to, recordingId: "c1", status: "online" },
    ]),
    notices: [
      ...linesOf(scenario.sent ?? "", "webhook/0", "RecordingOffline", 0),
      ...linesOf(scenario.phone ?? "", "phone/0", "RecordingOffline", 100),
      ...linesOf(scenario.self ?? "", "webhook/ops", "ServiceUnreachable", 200),
    ],
    app: scenario.app ?? { posts: [], roots: [], episodes: new Map() },
    incidents: scenario.incidents ?? [],
    answers: new Map([["l1", answers]]),
    judged: new Map([
      ["l1", answers.filter((at) => !spans(scenario.unjudged).some(({ from, to }) => at >= from && at <= to))],
    ]),
    crashes: (scenario.crashes ?? []).map(second),
    unreachable: spans(scenario.unreachable),
    redisDown: spans(scenario.redisDown),
    disturbed: (scenario.crashes ?? []).map((at) => ({ from: second(at), to: second(at + 10) })),
    rule: {
      intervalMs: 1_000,
      forMs: 2_000,
      keepFiringForMs: 2_000,
      repeatMs: 20_000,
      escalateMs: 6_000,
      lateMs: scenario.lateMs ?? 60_000,
    },
    suppressions: [...suppressionsOf("silence", scenario.silenced), ...suppressionsOf("ack", scenario.acknowledged)],
    end: second(300),
  };
  return audit(input);
}

export const kinds = (scenario: Scenario) =>
  judged(scenario)
    .verdicts.map(({ kind }) => kind)
    .sort()
    .join(" ");

/** The Slack app's log: posts `3+till 33-till,+door` of one conversation, and how its root is shown. */
export function appLog(posts: string, root?: Partial<AppRoot>, tillEnds = 30): AppLog {
  const till: Episode = {
    id: "till",
    recordingId: "c1",
    locationId: "l1",
    location: "Leeds",
    startsAt: second(0),
    endsAt: tillEnds === NEVER ? undefined : second(tillEnds),
  };
  const door: Episode = { ...till, id: "door", recordingId: "c2", endsAt: undefined };
  const common = { integration: "app/0", conversation: "a1" };
  return {
    posts: (posts.match(/\S+/g) ?? []).map((text, number): AppPost => {
      const [, at = "", signed = ""] = /^(\d+)(.+)$/.exec(text) ?? [];
      const traces = signed.split(",").map((one) => traceOf(one[0] as "+" | "-", one.slice(1)));
      return { ...common, at: second(Number(at)), traces, number: 1_000 + number };
    }),
    roots: root ? [{ ...common, at: second(3), text: "✅ Till 3 recovered", hasButtons: false, ...root }] : [],
    episodes: new Map([till, door].map((one) => [one.id, one])),
  };
}
