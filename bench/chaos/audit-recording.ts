/** One recording at one integration: its dark times held against what was told of it. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Delay, Verdict, VerdictKind } from "./audit.ts";
import { createDuties, type Excuse, type RecordingCase } from "./expectations.ts";
import { beganBetween, messagesOf, outagesBegun, outagesOver, SENDING_MS, TOLERANCE_MS } from "./match.ts";
import type { Telling } from "./messages.ts";
import type { Span } from "./timeline.ts";

export interface RecordingAudit {
  readonly outages: number;
  readonly mustBeTold: number;
  readonly excused: readonly Excuse[];
  readonly verdicts: Verdict[];
  readonly delays: Delay[];
}

const NO_TIME: Span = { from: 0, to: 0 };

/** A dark time that was told as such and whose end is awaited. */
interface Open {
  readonly outage: number;
  readonly telling: Telling;
}

/** `tellings` of this recording at this integration, in order of acceptance; those of its flapping are left out. */
export function auditRecording(tellings: readonly Telling[], one: RecordingCase): RecordingAudit {
  const desk = createDesk(one);
  for (const lines of messagesOf(tellings)) for (const line of lines) desk.hear(line);
  return { ...desk.finish(), outages: one.dark.length };
}

function createDesk(one: RecordingCase) {
  const { dark, integration, subject } = one;
  const roles = createDuties(one);
  const verdicts: Verdict[] = [];
  const delays: Delay[] = [];
  /** By dark time: what was told of its beginning, of its end, and which were told with an earlier one. */
  const begun = new Map<number, Telling>();
  const ended = new Map<number, Telling>();
  const covered = new Set<number>();
  const open: Open[] = [];

  const judge = (kind: VerdictKind, { at, message }: Telling, why: string, first?: Telling) => {
    verdicts.push({ kind, integration, subject, at, why, message, ...(first ? { firstAt: first.at } : {}) });
  };
  const span = (outage: number) => dark[outage] ?? NO_TIME;

  /** Of those a line may speak of: one that is still to be told, before all one that has to be. */
  function likeliest(possible: readonly number[]): number | undefined {
    const unnotified = possible.filter((i) => !begun.has(i));
    return unnotified.find((i) => roles.mustBeTold(span(i))) ?? unnotified[0] ?? possible[0];
  }

  function checkHushed(telling: Telling): void {
    const why = roles.hushed(telling);
    if (why !== undefined) judge("false", telling, `told offline ${why}`);
  }

  function firing(telling: Telling): void {
    const outage = likeliest(outagesBegun(dark, telling));
    if (outage === undefined) {
      judge("false", telling, "told offline though it was online");
      return;
    }
    if (!roles.lastedEnough(span(outage), telling.at))
      judge("false", telling, "told offline before it was for as long as the rule asks");
    checkHushed(telling);
    const first = begun.get(outage);
    if (first) judge("doubled", telling, "told offline twice", ended.get(outage) ?? first);
    else delay("firing", roles.freeFrom(span(outage), telling.at), telling);
    checkStale(outage, telling);
    if (!first || ended.has(outage)) open.push({ outage, telling });
    ended.delete(outage);
    begun.set(outage, telling);
  }

  /** Told as offline long after it was seen to be back; what flaps is not told to be back. */
  function checkStale(outage: number, telling: Telling): void {
    const from = span(outage).to;
    const to = telling.at - SENDING_MS;
    const next = dark[outage + 1];
    if ((next && next.from < to) || roles.excuse(span(outage)) === "flapping") return;
    if (roles.isSurelyBack(from, to))
      judge("false", telling, `told offline though it was back since ${iso(from)}`);
  }

  function still(telling: Telling): void {
    const current = open.at(-1);
    if (!current) {
      judge("false", telling, "told as still offline, never told as new");
      return;
    }
    checkHushed(telling);
    checkStale(current.outage, telling);
  }

  function recovered(telling: Telling): void {
    const [current] = open;
    if (!current) {
      const last = [...ended.values()].at(-1);
      if (last) judge("doubled", telling, "told recovered twice", last);
      else judge("false", telling, "told recovered though never told offline");
      return;
    }
    open.shift();
    cover(current.outage, beganBetween(current.telling).to + telling.lastedMs + 1_000 + TOLERANCE_MS);
    if (!roles.wasBack(span(current.outage).from, telling.at))
      judge("false", telling, "told recovered while it was dark, or outside its schedule");
    if (roles.isFlapping(telling)) judge("false", telling, "told recovered while it was told to be flapping");
    close(current.outage, telling);
  }

  function late(telling: Telling): void {
    const possible = outagesOver(dark, telling);
    const awaited = possible.find((i) => open.some(({ outage }) => outage === i));
    const outage = awaited ?? likeliest(possible.filter((i) => !covered.has(i))) ?? possible[0];
    if (outage === undefined) {
      judge("false", telling, "told of an outage there was not");
      return;
    }
    if (!roles.lastedEnough(span(outage), telling.at))
      judge("false", telling, "told of an outage shorter than the rule asks");
    if (!roles.wasBack(span(outage).from, telling.at))
      judge("false", telling, "told to be back while it was dark, or outside its schedule");
    const first = ended.get(outage) ?? begun.get(outage);
    if (first) judge("doubled", telling, "told late, and before", first);
    const known = open.findIndex((one) => one.outage === outage);
    if (known >= 0) open.splice(known, 1);
    begun.set(outage, first ?? telling);
    cover(outage, span(outage).from + telling.lastedMs + SENDING_MS);
    close(outage, telling);
  }

  /** The same alert may have lasted over a moment online that nobody saw. */
  function cover(outage: number, until: Instant): void {
    for (let i = outage + 1; i < dark.length && span(i).from < until; i++) covered.add(i);
  }

  function close(outage: number, telling: Telling): void {
    let last = outage;
    while (covered.has(last + 1)) last++;
    ended.delete(outage);
    ended.set(outage, telling);
    delay("recovered", roles.excuse(span(outage)) === "flapping" ? undefined : dark[last]?.to, telling);
  }

  function delay(says: Delay["says"], flip: Instant | undefined, { at, integration: to }: Telling): void {
    if (flip === undefined || at < flip) return;
    const undisturbed = !one.disturbed.some(({ from, to: until }) => from <= at && until >= flip - 1_000);
    delays.push({ ms: at - flip, says, undisturbed, integration: to, subject, at });
  }

  function heard({ says, ...rest }: Telling): void {
    const telling = { says, ...rest };
    if (says === "firing") firing(telling);
    else if (says === "still") still(telling);
    else if (says === "recovered") recovered(telling);
    else if (says === "late") late(telling);
    else judge("false", telling, "told over for another reason than that it is back");
  }

  return {
    hear: heard,
    finish(): Omit<RecordingAudit, "outages"> {
      const excused: Excuse[] = [];
      let mustBeTold = 0;
      for (const [i, { from, to }] of dark.entries()) {
        const must = roles.mustBeTold({ from, to });
        if (must) mustBeTold++;
        if (begun.has(i) || covered.has(i)) continue;
        const why = `dark for ${to - from} ms, never told`;
        if (must) verdicts.push({ kind: "lost", integration, subject, at: from, why });
        else if (roles.wasLong({ from, to })) excused.push(roles.excuse({ from, to }) ?? "outside_schedule");
      }
      for (const { telling, outage } of open)
        if (roles.mustEnd(outage)) judge("unresolved", telling, "told offline, never told back");
      return { verdicts, delays, mustBeTold, excused };
    },
  };
}

function iso(at: Instant): string {
  return new Date(at).toISOString();
}
