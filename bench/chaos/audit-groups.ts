/** Alerts about camera servers at the webhook that receives them, compared with how many recordings were offline. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Timing, Verdict } from "./audit.ts";
import { TOLERANCE_MS } from "./match.ts";
import { type Span, seenMs, timeInside, timeOutside } from "./timeline.ts";

/** Of the recordings of a camera server: its alert begins, and ends below the lower one. */
export const SHARE = { atLeast: 0.5, clearBelow: 0.3 } as const;
export const FEWEST_RECORDINGS = 6;

/** An alert about a camera server in an accepted message. */
export interface GroupLine {
  readonly at: Instant;
  readonly integration: string;
  readonly message: number;
  readonly status: "firing" | "resolved";
  readonly server: string;
  /** When so many were offline. */
  readonly startsAt: Instant;
}

export interface CameraServer {
  readonly id: string;
  readonly recordingIds: readonly string[];
  readonly locationIds: readonly string[];
}

interface Facts {
  /** Those whose recordings have no uploading schedules, which leave out some of them at times. */
  readonly servers: readonly CameraServer[];
  /** By recording. */
  readonly offline: ReadonlyMap<string, readonly Span[]>;
  /** By location: answers that were certainly evaluated. */
  readonly answers: ReadonlyMap<string, readonly Instant[]>;
  readonly rule: Timing;
  readonly end: Instant;
}

const GAP_INTERVALS = 3;
/** Groups are evaluated after the sweeps, in a job of their own. */
const EVALUATING_MS = 6_000;

/** Each outage of a server that was certainly read for long enough is notified; each beginning is true, once, and ends. */
export function auditGroups(
  lines: readonly GroupLine[],
  facts: Facts,
): { verdicts: Verdict[]; mustBeNotified: number } {
  const byServer = Map.groupBy(lines, ({ server }) => server);
  const parts = facts.servers.map((server) => auditServer(byServer.get(server.id) ?? [], server, facts));
  return {
    verdicts: parts.flatMap(({ verdicts }) => verdicts),
    mustBeNotified: parts.reduce((sum, part) => sum + part.must.length, 0),
  };
}

function auditServer(lines: readonly GroupLine[], server: CameraServer, { offline, answers, rule, end }: Facts) {
  const { recordingIds, locationIds, id: subject } = server;
  const all = recordingIds.flatMap((id) => offline.get(id) ?? []);
  const down = together(all, SHARE.atLeast * recordingIds.length);
  const notClear = together(all, SHARE.clearBelow * recordingIds.length);
  const verdicts: Verdict[] = [];
  const judge = (kind: Verdict["kind"], line: Partial<GroupLine>, why: string, firstAt?: Instant) =>
    verdicts.push({ kind, integration: "groups/0", at: end, ...line, subject, why, ...(firstAt && { firstAt }) });

  for (const episode of Map.groupBy(lines, ({ startsAt }) => startsAt).values()) {
    const [first] = episode;
    if (!first) continue;
    const { startsAt } = first;
    const near = (span: Span) => span.from - TOLERANCE_MS <= startsAt && span.to >= startsAt - EVALUATING_MS;
    const began = down.findLast(near);
    const from = Math.min(...notClear.filter(near).map((span) => span.from));
    if (!began || timeInside(down, from, first.at) < rule.forMs - TOLERANCE_MS)
      judge("false", first, "notified offline without so many recordings offline for so long");
    for (const [i, line] of episode.entries()) {
      const before = episode.slice(0, i).findLast(({ status }) => status === line.status);
      if (before) judge("doubled", line, `notified ${line.status} twice`, before.at);
      const isBack = timeOutside(notClear, startsAt, line.at) >= rule.keepFiringForMs - TOLERANCE_MS;
      if (line.status === "resolved" && !isBack) judge("false", line, "notified recovered while offline");
    }
    const isOver = (notClear.at(-1)?.to ?? 0) < end;
    if (isOver && episode.at(-1)?.status === "firing") judge("unresolved", first, "notified offline, never resolved");
  }
  const seen = (span: Span) =>
    Math.min(...locationIds.map((id) => seenMs(answers.get(id) ?? [], span, GAP_INTERVALS * rule.intervalMs)));
  const must = down.filter((span) => seen(span) >= rule.forMs + EVALUATING_MS);
  for (const { from, to } of must) {
    const isOf = ({ startsAt }: GroupLine) => startsAt >= from - TOLERANCE_MS && startsAt <= to + EVALUATING_MS;
    const isNotified = lines.some(
      (line) => isOf(line) || (line.startsAt < from && timeOutside(notClear, line.startsAt, from) === 0),
    );
    if (!isNotified) judge("lost", { at: from }, `offline for ${to - from} ms, never notified`);
  }
  return { verdicts, must };
}

/** When at least so many of these spans lasted at once, in order. */
export function together(spans: readonly Span[], least: number): Span[] {
  const changes = spans
    .flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ])
    .sort((a, b) => a.at - b.at || b.by - a.by);
  const found: Span[] = [];
  let count = 0;
  let since: Instant | undefined;
  for (const { at, by } of changes) {
    count += by;
    if (count >= least) since ??= at;
    else if (since !== undefined) {
      found.push({ from: since, to: at });
      since = undefined;
    }
  }
  return found;
}
