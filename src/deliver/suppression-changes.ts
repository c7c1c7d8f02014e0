/**
 * Suppressions as people change them: silences set and ended, alerts acknowledged. What they release is due at once. They
 * hold under any configuration, and are not checked against the active one: nobody is refused while one is loaded.
 */
import { randomUUID } from "node:crypto";
import { type AuditOrigin, silenceEntry } from "../alerting/audit.ts";
import {
  changedFrom,
  changeSilence,
  endSilence,
  roomProblem,
  type Silence,
  silenceProblem,
  silenceState,
  undoneSilence,
  type WantedSilence,
} from "../alerting/silence.ts";
import { isMatched, lookBudget } from "../alerting/silence-verdicts.ts";
import type { Instant } from "../lib/clock.ts";
import { mapYielding } from "../lib/yield.ts";
import { createAckChanges, type SuppressionChangesDeps } from "./ack-changes.ts";

/** `known`: one with the id it was to have is stored. */
type SilenceOutcome =
  | { outcome: "set" | "known"; id: string }
  | { outcome: "unknown" }
  | { outcome: "refused"; why: string };

/** The silences to write, each with the one it replaces. */
type Changes = readonly (readonly [silence: Silence, before: Silence | undefined])[];

/** One change, which can be undone. */
function changed(silence: Silence, before: Silence | undefined, now: Instant): Changes[number] {
  return [changedFrom(before, silence, now), before];
}

export function createSuppressionChanges(deps: SuppressionChangesDeps) {
  const { clock, store, wake, audit } = deps;

  /** False where another change came first. */
  async function write(changes: Changes, now: Instant, by: AuditOrigin): Promise<boolean> {
    const written = changes.map(([silence]) => silence);
    const before = changes.map(([, one]) => one);
    // An alert that the budget leaves out is brought up to date with its group's interval.
    const budget = lookBudget();
    const touched = await mapYielding(await store.firing(), (alert) => {
      return written.some(({ matchers }) => isMatched(matchers, alert, budget)) ? [alert.id] : [];
    });
    const due = await store.silences.write(written, now, { before, touched: touched.flat() });
    if (!due) return false;
    for (const [silence, previous] of changes)
      audit?.(silenceEntry(silence, previous, { ...by, isEnded: silenceState(silence, now) === "expired" }));
    await wake(due);
    return true;
  }

  return {
    /** Every silence that is stored. */
    silences: () => store.silences.read(clock.now()),

    async setSilence(wanted: WantedSilence, by: AuditOrigin, newId: string = randomUUID()): Promise<SilenceOutcome> {
      for (;;) {
        const now = clock.now();
        const why = silenceProblem(wanted, now);
        if (why !== undefined) return { outcome: "refused", why };
        const all = await store.silences.read(now);
        if (all.some(({ id }) => id === newId)) return { outcome: "known", id: newId };
        const previous = all.find(({ id }) => id === wanted.id);
        if (wanted.id !== undefined && !previous) return { outcome: "unknown" };
        const others = all.filter((one) => one !== previous);
        const noRoom = roomProblem(others, wanted, now);
        if (noRoom !== undefined) return { outcome: "refused", why: noRoom };
        const { silence, replaced } = changeSilence(previous, wanted, { now, newId });
        const before = silence.id === previous?.id ? previous : undefined;
        const changes = [...(replaced ? [changed(replaced, previous, now)] : []), changed(silence, before, now)];
        if (await write(changes, now, by)) return { outcome: "set", id: silence.id };
      }
    },

    /** False where there is none with that id; an expired one stays as it is. */
    async endSilence(id: string, by: AuditOrigin): Promise<boolean> {
      for (;;) {
        const now = clock.now();
        const silence = (await store.silences.read(now)).find((one) => one.id === id);
        if (!silence) return false;
        if (silenceState(silence, now) === "expired") return true;
        if (await write([changed(endSilence(silence, now), silence, now)], now, by)) return true;
      }
    },

    /** One is as it was before its last change, which is undone once. */
    async undoSilence(id: string, by: AuditOrigin): Promise<"done" | "unknown" | "too_late"> {
      for (;;) {
        const now = clock.now();
        const silence = (await store.silences.read(now)).find((one) => one.id === id);
        if (!silence) return "unknown";
        const undone = undoneSilence(silence, now);
        if (!undone) return "too_late";
        if (await write([[undone, silence]], now, by)) return "done";
      }
    },

    /** One lasts until then, in place, or as long as it did. False where there is none any more. */
    async extendSilence(id: string, until: Instant, by: AuditOrigin): Promise<boolean> {
      for (;;) {
        const now = clock.now();
        const silence = (await store.silences.read(now)).find((one) => one.id === id);
        if (!silence || silenceState(silence, now) === "expired") return false;
        if (silence.endsAt >= until) return true;
        const longer = { ...silence, endsAt: until, updatedAt: now };
        if (await write([changed(longer, silence, now)], now, by)) return true;
      }
    },

    ...createAckChanges(deps),
  };
}
