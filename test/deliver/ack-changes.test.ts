import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MOST_NOTES, NOTE_CHARACTERS, type StoredAcknowledgement } from "../../src/alerting/acknowledgement.ts";
import type { AuditEntry, AuditOrigin } from "../../src/alerting/audit.ts";
import { type LogLine, sentenceOf } from "../../src/alerting/decision-log.ts";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { episodeOf, incidentsOf } from "../../src/alerting/incident.ts";
import { createAckChanges } from "../../src/deliver/ack-changes.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { AckChange } from "../../src/store/acknowledgements.ts";
import { toStoredEpisode } from "../../src/store/episodes.ts";
import { holdsInMemory } from "../http/silences.ts";
import { firing, HOUR, MINUTE, T0 } from "../store/fixtures.ts";

const alert = firing("till", T0, { recording: "Till 3", location: "Leeds" });
const print = fingerprint(alert.labels);
const by: AuditOrigin = { actor: { via: "token", name: "oncall", person: "ben" } };

/** One alert that fires, and what the changes of its acknowledgement left behind. */
function open(stored?: StoredAcknowledgement) {
  const kept = { ack: stored, now: T0 };
  const changes: AckChange[] = [];
  const woken: ReadonlyMap<string, Instant>[] = [];
  const entries: AuditEntry[] = [];
  const due = new Map([["slack", T0]]);
  const { acknowledge, withdraw, note } = createAckChanges({
    clock: { now: () => kept.now },
    store: {
      silences: { read: async () => [], write: async () => new Map() },
      firing: async () => [alert],
      episodes: { endedSince: async () => [] },
      acks: {
        read: async () => new Map(),
        async change(_, __, changeOf) {
          const change = changeOf(kept.ack);
          if (!change) return new Map();
          changes.push(change);
          kept.ack = change.after;
          return change.isEarlier ? due : new Map();
        },
      },
    },
    wake: async (due) => void woken.push(due),
    audit: (entry) => void entries.push(entry),
  });
  return {
    kept,
    changes,
    woken,
    entries,
    acknowledge: (author: string, comment = "", forMs?: number) => acknowledge(print, { author, comment, forMs }, by),
    withdraw: (...author: [string?]) => withdraw(print, by, ...author),
    note: (author: string, text: string) => note(print, { author, text }, by),
    lines: () => changes.map(({ line }) => sentenceOf(line as LogLine, (at) => `+${(at - T0) / HOUR} h`)),
  };
}

describe("an acknowledgement", () => {
  test("lasts until the alert resolves, or as long as it says", async () => {
    const { acknowledge, kept, lines } = open();
    expect(await acknowledge("ana")).toMatchObject({ outcome: "done", alerts: 1, before: undefined, after: kept.ack });
    expect(kept.ack).toEqual({ at: T0, author: "ana", comment: "", last: { at: T0 } });
    await acknowledge("ana", "on my way", 2 * HOUR);
    expect(kept.ack).toMatchObject({ at: T0, author: "ana", comment: "on my way", until: T0 + 2 * HOUR });
    expect(lines()).toEqual([
      "RecordingOffline: acknowledged by ana",
      "RecordingOffline: acknowledged by ana: on my way (until +2 h)",
    ]);
  });

  test("the same again changes nothing, also once it has notes", async () => {
    const { acknowledge, note, kept, changes } = open();
    await acknowledge("ana", "on my way");
    await note("ben", "the fuse?");
    kept.now += MINUTE;
    expect(await acknowledge("ana", "on my way")).toMatchObject({ outcome: "done", alerts: 1, before: kept.ack });
    expect(changes).toHaveLength(2);
    expect(kept.ack?.at).toBe(T0);
  });

  test("of another person takes over; what the earlier one said stays as a note, and the notes stay", async () => {
    const { acknowledge, note, kept } = open();
    await acknowledge("ana", "on my way", HOUR);
    await note("cleo", "the fuse?");
    kept.now += MINUTE;
    expect(await acknowledge("ben")).toMatchObject({ before: { author: "ana" }, after: { author: "ben" } });
    expect(kept.ack).toMatchObject({
      at: T0 + MINUTE,
      author: "ben",
      comment: "",
      notes: [
        { at: T0, author: "cleo", text: "the fuse?" },
        { at: T0, author: "ana", text: "on my way" },
      ],
    });
  });

  test("wakes only where it ends earlier than before", async () => {
    const { acknowledge, woken } = open();
    await acknowledge("ana", "", HOUR);
    await acknowledge("ana", "", 2 * HOUR);
    await acknowledge("ana");
    expect(woken).toHaveLength(0);
    await acknowledge("ana", "", HOUR);
    expect(woken).toHaveLength(1);
  });

  test("of many alerts is made at many at once, and wakes once", async () => {
    const woken: unknown[] = [];
    let [running, most] = [0, 0];
    const { acknowledgeEach } = createAckChanges({
      clock: { now: () => T0 },
      store: {
        silences: { read: async () => [], write: async () => new Map() },
        firing: async () => [],
        episodes: { endedSince: async () => [] },
        acks: {
          read: async () => new Map(),
          async change(episode, __, changeOf) {
            changeOf(undefined);
            most = Math.max(most, ++running);
            await setImmediate();
            running -= 1;
            return new Map([["slack", T0 + Number(episode)]]);
          },
        },
      },
      wake: async (due) => void woken.push(due),
    });
    const all = Array.from({ length: 300 }, (_, i) => ({ ...alert, id: `${i + 7}` }));
    expect(await acknowledgeEach(all, { author: "ana", comment: "" }, by)).toHaveLength(300);
    expect(most).toBeGreaterThan(10);
    expect(woken).toEqual([new Map([["slack", T0 + 7]])]);
  });

  test("of an incident is undone of each that the last press changed, and nobody since", async () => {
    const all = ["a", "b", "c"].map((id) => {
      const one = firing(id, T0, { recording: id, location_id: "leeds" });
      return { ...one, facts: { ...one.facts, problem: "offline" as const } };
    });
    const prints = all.map(({ labels }) => fingerprint(labels));
    const [incident] = incidentsOf(all.map(episodeOf));
    expect(incident?.episodes).toHaveLength(3);
    const names = [incident?.id ?? "", ...prints];
    const press = fc.record({ of: fc.nat(3), how: fc.constantFrom("ack", "note", "withdraw", "undo"), who: fc.nat(2) });
    await fc.assert(
      fc.asyncProperty(fc.array(press, { minLength: 1, maxLength: 12, size: "max" }), async (presses) => {
        const clock = { at: T0, now: () => clock.at };
        const { deps, acks } = holdsInMemory(clock, all);
        let before = new Map(acks);
        for (const { of, how, who } of presses) {
          clock.at += MINUTE / 2;
          before = new Map(acks);
          const [name = "", author] = [names[of], `person ${who}`];
          if (how === "ack") await deps.acknowledge(name, { author, comment: "" }, by);
          if (how === "note") await deps.note(name, { author, text: "x" }, by);
          if (how === "withdraw") await deps.withdraw(name, by);
          if (how === "undo") await deps.undoAck(name, by);
        }
        const after = new Map(acks);
        const changed = all.filter(({ id }) => after.get(id)?.last?.at === clock.at);
        fc.pre(changed.length > 0);
        expect(await deps.undoAck(names[0] ?? "", by)).toMatchObject({ outcome: "done", alerts: changed.length });
        for (const { id } of all) {
          const { last: _, ...was } = before.get(id) ?? { ...after.get(id), until: clock.at };
          if (!changed.some((one) => one.id === id)) expect(acks.get(id)).toEqual(after.get(id));
          else expect(acks.get(id)).toEqual(was);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("of an incident of days has the id of its first alert, which ended long ago", async () => {
    const [first, later] = ["a", "b"].map((id) => {
      const one = firing(id, T0, { recording: id, location_id: "leeds" });
      return { ...one, facts: { ...one.facts, problem: "offline" as const } };
    });
    if (!first || !later) return expect.fail();
    const ended = toStoredEpisode({ ...first, endsAt: T0 + HOUR });
    const clock = { now: () => T0 + 50 * HOUR };
    const { deps, acks } = holdsInMemory(clock, [later], [ended]);
    const [incident] = incidentsOf([ended, episodeOf(later)]);
    expect(incident?.episodes).toHaveLength(2);
    const request = { author: "ana", comment: "" };
    expect(await deps.acknowledge(incident?.id ?? "", request, by)).toMatchObject({ outcome: "done", alerts: 1 });
    expect([...acks.keys()]).toEqual([later.id]);
  });

  test("that is withdrawn or ran out is over; it can be noted, not withdrawn, and the next one keeps its notes", async () => {
    const { acknowledge, withdraw, note, kept, woken, lines } = open();
    await acknowledge("ana", "on my way");
    await note("ben", "the fuse?");
    expect(await withdraw()).toMatchObject({ outcome: "done", before: { author: "ana" }, after: undefined });
    expect(kept.ack).toMatchObject({ author: "ana", until: T0 });
    expect(woken).toHaveLength(1);
    expect(await withdraw()).toEqual({ outcome: "not_acknowledged" });
    expect(await note("ben", "it was not")).toMatchObject({ outcome: "done" });
    await acknowledge("ana", "", HOUR);
    kept.now += HOUR;
    expect(await withdraw("cleo")).toEqual({ outcome: "not_acknowledged" });
    expect(kept.ack?.notes).toHaveLength(3);
    expect(lines().slice(1, 4)).toEqual([
      "RecordingOffline: note by ben: the fuse?",
      "RecordingOffline: acknowledgement withdrawn by ben",
      "RecordingOffline: note by ben: it was not",
    ]);
  });

  test("has so many notes of so many characters", async () => {
    const { acknowledge, note, kept } = open();
    expect(await note("ben", "x")).toEqual({ outcome: "not_acknowledged" });
    await acknowledge("ana", "first");
    for (let i = 0; i < MOST_NOTES; i++) await note("ben", "x".repeat(NOTE_CHARACTERS + 1));
    expect(await note("ben", "x")).toEqual({ outcome: "too_many_notes" });
    expect(kept.ack?.notes?.map(({ text }) => text.length)).toEqual(Array(MOST_NOTES).fill(NOTE_CHARACTERS));
    await acknowledge("ben", "second");
    expect(kept.ack?.notes).toHaveLength(MOST_NOTES);
    expect(kept.ack?.notes?.at(-1)?.text).toBe("first");
  });

  test("is audited with what it was", async () => {
    const { acknowledge, withdraw, note, entries } = open();
    await acknowledge("ana", "on my way", HOUR);
    await note("ben", "the fuse?");
    await withdraw();
    const done = { ...by, outcome: "done", target: alert.id };
    const place = { recording: "Till 3", location: "Leeds" };
    const ack = { ...place, author: "ana", comment: "on my way", until: "2026-03-02T09:00:00.000Z" };
    expect(entries).toEqual([
      { ...done, action: "acknowledged", after: ack },
      { ...done, action: "ack_noted", after: { ...place, author: "ben", note: "the fuse?" } },
      { ...done, action: "ack_withdrawn", before: ack },
    ]);
  });
});
