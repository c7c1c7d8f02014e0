import { expect, it } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { EVIDENCE_WAIT_MS } from "../../src/health/apply-rules.ts";
import type { Rule } from "../../src/health/model.ts";
import type { Reading, StatusSnapshot } from "../../src/health/recording.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { createSweep } from "../../src/poll/sweep.ts";
import { StoreError } from "../../src/store/errors.ts";
import { degradedRule, missingRule, offlineRule, rule } from "../health/shard-history.ts";
import { HOUR, SECOND, slack, T0, useTestStore } from "../store/fixtures.ts";
import { aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { shardCommit } from "../support/shard-patch.ts";
import { commitOf, plainSweep, rows, STEP, storedSweep } from "./rig.ts";

const row = (recordingId: string, status: Reading["status"], locationId = "north"): Reading => ({
  recordingId,
  locationId,
  status,
  lastSeenAt: undefined,
  averageQuality: 1,
});
const said = (id: string, what: string) => ({ ...row(id, "unknown"), said: what });
const online = (...ids: string[]) => rows(...ids.map((id) => row(id, "online")));
const offline = rows(row("a", "offline"));
const refused = new Error("No answer.");

const named = (id: string, name = id) => aRecording(id, { name, locationId: "north", timezone: "UTC" });
const north = new Map([["north", 0]]);
const twoShards = new Map([...north, ["south", 1]]);
const stockTake = {
  name: "stock-take",
  matchers: parseMatchers("recording_id=a"),
  timeIntervals: [{ name: "always", intervals: [{ location: "UTC" }] }],
  comment: "",
};

type Answer = StatusSnapshot | Error | (() => Promise<StatusSnapshot>);
interface Differing {
  readonly rules?: readonly Rule[];
  readonly startedAt?: number;
  readonly statusIntervalMs?: number;
  readonly assignments?: ReadonlyMap<string, number>;
}

describeWithRedis("a sweep", () => {
  const testStore = useTestStore();

  function replica(answers: Answer[], differing: Differing = {}) {
    const { rules = [offlineRule()], startedAt = T0, statusIntervalMs = STEP, assignments = north } = differing;
    const store = testStore().replica();
    const assigned = createAssigned(() => store.assignments.read());
    if (assignments.size > 0) assigned.set(assignments);
    const asked: (readonly string[])[] = [];
    const followed: (StatusSnapshot | undefined)[] = [];
    const looked: string[] = [];
    const woken: string[] = [];
    const outcomes: string[] = [];
    const clock = { at: startedAt };
    const sweep = createSweep({
      ...plainSweep(clock, { statusIntervalMs, locationsPerRequest: 2 }),
      ...storedSweep(store),
      service: {
        async statusUptime({ entities, last }) {
          asked.push(entities);
          followed.push(last);
          const answer = answers.shift() ?? online("b");
          if (answer instanceof Error) throw answer;
          return typeof answer === "function" ? answer() : answer;
        },
      },
      assigned,
      nameThem: (ids) => {
        looked.push(ids.join());
        return store.inventory.follow();
      },
      rules,
      commit: commitOf({ maintenance: [stockTake] }, woken),
      swept: (outcome) => void outcomes.push(outcome),
    });
    /** Sweeps these shards, an interval after one another; the first of a replica's sweeps is at its start. */
    const sweepAll = async (...all: number[]) => {
      for (const shard of all) {
        if (outcomes.length > 0) clock.at += STEP;
        await sweep(shard);
      }
    };
    const attempt = async (subject = "shard:0") => (await store.shards.attempts()).get(subject);
    const state = async (shard = 0) => (await store.shards.read(shard)).state;
    return {
      sweep,
      sweepAll,
      attempt,
      state,
      store,
      assigned,
      answers,
      asked,
      followed,
      looked,
      woken,
      outcomes,
      clock,
    };
  }

  const firingNow = async () => (await testStore().store.shards.alerts()).map(({ key, state }) => `${key} ${state}`);
  const offlineNow = ["RecordingOffline/recording/a firing"];

  it("asks for its locations, remembers what it saw and wakes who has something to say", async () => {
    const one = replica([rows(row("a", "offline"), row("b", "online"))]);
    await one.sweep(0);
    expect([one.asked, one.outcomes, one.woken]).toEqual([[["north"]], ["ok"], [slack.id]]);
    expect(await firingNow()).toEqual(offlineNow);
  });

  it("reads an answer beside the last one", async () => {
    const answers = [online("a"), online("a")];
    const [first] = answers;
    const one = replica(answers);
    await one.sweepAll(0, 0);
    expect(one.followed).toEqual([undefined, first]);
  });

  it("sees a recording that is new in the list of the answer before", async () => {
    const readings = [row("a", "online")];
    const same = { ...rows(), readings };
    const one = replica([same, same], { statusIntervalMs: 5 * SECOND });
    await one.sweep(0);
    await one.sweep(0);
    readings.push(row("b", "online"));
    one.answers.push({ ...same });
    await one.sweep(0);
    expect(one.looked).toEqual(["a", "b"]);
  });

  it("looks up the names of all every 30 s, and of a new recording at once", async () => {
    const one = replica([], { statusIntervalMs: 5 * SECOND });
    const lookedUp = async (seconds: number, answer = online("a")) => {
      one.looked.length = 0;
      for (let i = 0; i < seconds; i += 5) {
        one.clock.at += 5 * SECOND;
        one.answers.push(answer);
        await one.sweep(0);
      }
      return one.looked;
    };
    expect(await lookedUp(65)).toEqual(["a", "a", "a"]);
    expect(await lookedUp(30, online("a", "c")), "a new one").toEqual(["c", "a,c"]);
    one.clock.at -= HOUR;
    expect(await lookedUp(5), "the clock was set back").toEqual(["a,c"]);
  });

  it("an episode that began in a maintenance has its name", async () => {
    const one = replica([offline, online("a"), online("a")]);
    await one.sweepAll(0, 0, 0);
    const ended = await one.store.episodes.endedSince(0);
    expect(ended).toMatchObject([{ ruleId: "RecordingOffline", planned: "stock-take" }]);
  });

  it.each<[string, Answer, string]>([
    ["a question that failed", refused, "No answer."],
    [
      "an answer of which no row is understood",
      rows(said("a", "disconnected"), said("b", "disconnected")),
      'The service answers "disconnected" for 2 recordings',
    ],
  ])("%s changes nothing but the note that it failed, and why", async (_, answer, error) => {
    const one = replica([offline, answer]);
    await one.sweep(0);
    const before = await one.store.shards.read(0);
    await one.sweepAll(0);
    expect(one.outcomes).toEqual(["ok", "failed"]);
    expect(await one.store.shards.read(0)).toBe(before);
    expect(await one.attempt()).toMatchObject({ goodAt: T0, attemptedAt: T0 + STEP, error });
    expect(await firingNow()).toEqual(offlineNow);
  });

  it("notes when what it did not read was read: recordings with alerts, and locations without an answer", async () => {
    const assignments = new Map(["north", "east", "south"].map((id) => [id, 0]));
    const [a, c] = [rows(row("a", "offline"), row("b", "online", "east")), rows(row("c", "offline", "south"))];
    const odd = rows(said("a", "gone"), row("b", "online", "east"));
    const one = replica([a, c, odd, c, a, refused, refused, refused, refused, c], { assignments });
    const unread: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      await one.sweepAll(0);
      unread.push((await one.attempt())?.unread);
    }
    const south = { c: T0 + STEP, south: T0 + STEP };
    const others = { a: T0 + 2 * STEP, north: T0 + 2 * STEP, east: T0 + 2 * STEP };
    expect(unread).toEqual([undefined, { a: T0 }, south, south, others]);
  });

  it("counts a location without an answer of which no recording is known as one that is stale", async () => {
    const assignments = new Map(["north", "east", "south"].map((id) => [id, 0]));
    const one = replica([offline, refused, offline, rows()], { assignments });
    const stale: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      await one.sweepAll(0);
      stale.push((await one.attempt())?.stale);
    }
    expect(stale).toEqual([1, 0]);
  });

  it("a judgement that lost its race is thrown away, and wakes nobody", async () => {
    const quick = replica([online("a")]);
    const slow = replica([() => quick.sweep(0).then(() => offline)]);
    await slow.sweep(0);
    expect([quick.outcomes, slow.outcomes, slow.woken]).toEqual([["ok"], ["lost"], []]);
    expect(await firingNow()).toEqual([]);
  });

  it("a slow answer counts from when it was asked for, not from when it came", async () => {
    const one = replica([
      async () => {
        one.clock.at += 20 * SECOND;
        return offline;
      },
    ]);
    await one.sweep(0);
    const { sweptAt, recordings } = await one.state();
    expect([sweptAt, recordings.get("a")?.readAt, recordings.get("a")?.since]).toEqual([T0, T0, T0]);
    expect(await one.attempt()).toMatchObject({ goodAt: T0, attemptedAt: T0 });
    const [alert] = await one.store.shards.alerts();
    expect([alert?.startsAt, alert?.firedAt]).toEqual([T0, T0]);
  });

  it("an older question that fails late says nothing against a newer one that was answered", async () => {
    const at = T0 + 5 * SECOND;
    const quick = replica([online("a")], { startedAt: at });
    const slow = replica([
      async () => {
        await quick.sweep(0);
        slow.clock.at = T0 + 20 * SECOND;
        throw refused;
      },
    ]);
    await slow.sweep(0);
    expect([quick.outcomes, slow.outcomes]).toEqual([["ok"], ["failed"]]);
    expect(await quick.attempt()).toMatchObject({ goodAt: at, attemptedAt: at });
  });

  it.each([
    ["come too slowly", false],
    ["fail in between", true],
  ])(
    "answers that %s are noted as late until they are in time again, and an outage fires by their rhythm",
    async (_, fails) => {
      const one = replica([], { rules: [offlineRule({ forMs: 12 * STEP })] });
      const sweepAfter = async (gapMs: number) => {
        if (fails) one.answers.push(refused);
        one.clock.at += gapMs - STEP / 2;
        if (fails) await one.sweep(0);
        one.clock.at += STEP / 2;
        one.answers.push(offline);
        await one.sweep(0);
        return (await one.attempt())?.lateMs;
      };
      const noted: (number | undefined)[] = [];
      for (let i = 0; i < 7; i++) noted.push(await sweepAfter(4 * STEP));
      expect(noted).toEqual([undefined, undefined, ...Array(5).fill(4 * STEP)]);
      expect(await firingNow()).toEqual(offlineNow);
      const after: boolean[] = [];
      for (let i = 0; i < 5; i++) after.push((await sweepAfter(STEP)) === undefined);
      expect(after).toEqual([false, false, false, true, true]);
    },
  );

  it("a gap with a start in it is nobody's rhythm", async () => {
    await replica([offline]).sweep(0);
    const started = replica([offline], { startedAt: T0 + 8 * STEP });
    await started.sweep(0);
    expect((await started.state()).gaps).toEqual([]);
  });

  it("rows that nobody understands among others are noted as why some recordings' readings are old, not before", async () => {
    const answer = { ...rows(said("a", "gone\n"), row("b", "online")), unidentified: 1 };
    const one = replica([online("a", "b"), ...Array(4).fill(answer)]);
    await one.sweepAll(0, 0, 0, 0);
    const before = await one.attempt();
    expect([before?.stale, before?.error]).toEqual([0, undefined]);
    await one.sweepAll(0);
    const error = 'The service answers "gone\\n" for 1 recording, sends 1 row without the id of a recording';
    expect(await one.attempt()).toMatchObject({ stale: 1, error });
  });

  it("a sweep that fails in lenswatch itself is noted, without its cause, and how many recordings it concerns", async () => {
    const one = replica([online("a", "b")]);
    one.store.shards.commitShard = () => Promise.reject(new Error("ERR secret"));
    await expect(one.sweep(0)).rejects.toThrow("secret");
    const attempt = await one.attempt();
    expect(attempt).toMatchObject({ goodAt: 0, attemptedAt: T0, fault: "internal", known: 2 });
    expect(attempt?.error).not.toContain("secret");
  });

  it("a shard of more locations than a request may have is asked in several, and what failed of it stays", async () => {
    const assignments = new Map(["north", "south", "west"].map((id) => [id, 0]));
    const west = rows(row("w", "offline", "west"));
    const one = replica([offline, west, online("a"), refused], { assignments });
    await one.sweepAll(0, 0);
    expect(one.asked.slice(0, 2)).toEqual([["north", "south"], ["west"]]);
    expect(one.outcomes).toEqual(["ok", "ok"]);
    expect((await firingNow()).sort()).toEqual([
      "RecordingOffline/recording/a resolved",
      "RecordingOffline/recording/w firing",
    ]);
    const noted = { goodAt: one.clock.at, attemptedAt: one.clock.at, error: "No answer." };
    expect(await one.attempt()).toMatchObject(noted);
  });

  it("segments that most of the fleet lacks are no evidence about a recording", async () => {
    const lacking = rule("R", { kind: "segments_received", below: 0.05, clearAbove: 0.5, overMs: HOUR });
    const one = replica([], { rules: [lacking] });
    const { uptime, shards } = one.store;
    await one.sweep(0);
    await uptime.saveFigures(0, { at: T0, kinds: [`online-${HOUR}`], rows: new Map([["b", { ratios: [0] }]]) });
    for (const [absent, firing] of [
      [11, []],
      [10, ["R/recording/b firing"]],
    ] as const) {
      await shards.noteAttempt("uptime:0", T0, undefined, T0, { known: 20, absent });
      await one.sweepAll(0);
      expect(await firingNow()).toEqual(firing);
    }
  });

  it("absence is believed by what the other shards lack, not by the last sweep of its own", async () => {
    const one = replica([online("a", "b", "c", "d", "e", "f"), online("a", "b"), online("a", "b")], {
      rules: [missingRule()],
    });
    await one.sweepAll(0, 0);
    expect(await firingNow()).toEqual([]);
    const at = one.clock.at + STEP;
    await one.store.shards.noteAttempt("shard:1", at, undefined, at, { known: 20, absent: 0 });
    await one.sweepAll(0);
    expect(await firingNow()).toHaveLength(4);
  });

  it("before assignments are known nothing is swept; one under way is not begun again", async () => {
    const one = replica([], { assignments: new Map() });
    await one.sweep(0);
    expect([one.asked, one.outcomes]).toEqual([[], []]);
    one.assigned.set(north);
    await Promise.all([one.sweep(0), one.sweep(0)]);
    expect(one.outcomes).toEqual(["ok"]);
  });

  it("a shard without locations asks nobody, ends what was said, and leaves nothing behind", async () => {
    const one = replica([offline]);
    await one.sweep(0);
    await one.store.uptime.saveFigures(0, { at: T0, kinds: [], rows: new Map() });
    one.assigned.set(new Map());
    await one.sweepAll(0);
    expect(one.asked).toHaveLength(1);
    expect(await firingNow()).toEqual(["RecordingOffline/recording/a resolved"]);
    expect(await one.store.episodes.endedSince(0)).toMatchObject([{ endReason: "no_longer_watched" }]);
    const left = await testStore().keys();
    expect(left.filter((key) => /^(shard|uptime|figures|attempts|recordings)/.test(key))).toEqual([]);
  });

  it("a replica that does not know of a location yet ends nothing of it", async () => {
    const { store } = testStore();
    await store.assignments.update(["north", "south"], [], 2);
    const both = rows(row("a", "online"), row("s", "offline", "south"));
    const knows = replica([both]);
    await knows.assigned.follow();
    await knows.sweep(0);
    const stale = replica([online("a"), both]);
    await stale.sweep(0);
    expect(stale.outcomes).toEqual(["lost"]);
    expect(await firingNow()).toEqual(["RecordingOffline/recording/s firing"]);
    await stale.sweep(0);
    expect(stale.asked[1]).toEqual(["north", "south"]);
    expect(await firingNow()).toEqual(["RecordingOffline/recording/s firing"]);
  });

  it("another shard that cannot be read here is not noted as failing: its own replica may read it", async () => {
    const one = replica([rows(row("a", "online", "south"))], { assignments: twoShards });
    await one.store.inventory.saveRecordings([named("a")]);
    one.store.shards.read = async (shard) => {
      if (shard === 0) throw new StoreError("unreadable", "A stored document has format 99.");
      return testStore().store.shards.read(shard);
    };
    await one.store.shards.noteAttempt("shard:0", T0);
    await one.sweep(1);
    expect(one.outcomes).toEqual(["ok"]);
    expect(await one.attempt()).toEqual({ goodAt: T0, attemptedAt: T0 });
    await one.sweepAll(0);
    const own = await one.store.shards.attemptsOf(["shard:0"]);
    expect(own.get("shard:0")).toMatchObject({ fault: "unreadable" });
  });

  it("beside a shard that cannot be read no recording is missing: it may have moved there", async () => {
    const some = online("b", "c");
    const one = replica([online("a", "b", "c"), some, some, some], { rules: [missingRule()], assignments: twoShards });
    await one.sweep(0);
    await one.store.shards.noteAttempt("shard:1", T0, "A stored document is damaged.", T0, { fault: "unreadable" });
    await one.sweepAll(0);
    expect(await firingNow()).toEqual([]);
    await one.store.shards.noteAttempt("shard:1", one.clock.at);
    await one.sweepAll(0, 0);
    expect(await firingNow()).toEqual(["RecordingMissing/recording/a firing"]);
  });

  it("a camera that its own shard lists at a location of another one keeps its name and labels", async () => {
    const moved = rows(row("a", "offline", "south"));
    const b = row("b", "online");
    const answers = [rows(row("a", "offline"), b), rows(...moved.readings, b), moved];
    const one = replica(answers, { assignments: twoShards });
    await one.store.inventory.saveRecordings([named("a", "Door")]);
    for (const shard of [0, 0, 1]) {
      await one.sweepAll(shard);
      expect(one.store.inventory.recording("a")?.name).toBe("Door");
    }
    const firing = (await one.store.shards.alerts()).filter(({ state }) => state === "firing");
    expect(firing.map(({ labels }) => [labels.recording, labels.location_id])).toEqual([["Door", "south"]]);
    const lines = await one.store.log.read([{ kind: "recording", id: "a" }], 0);
    expect(lines.map(({ reason }) => reason)).toContain("moved");
  });

  it("a row that every sweep ignores is one line of the decision log, and one more where storing failed", async () => {
    const ignored = { ...row("x", "offline"), locationId: undefined };
    const one = replica(Array.from({ length: 7 }, () => rows(ignored, row("b", "online"))));
    const { redis } = testStore();
    const { shards, keys, log } = one.store;
    const lines = () => redis.llen(keys.log("recording/x"));
    await one.sweepAll(0, 0, 0);
    expect(await lines()).toBe(1);
    const { commitShard } = shards;
    shards.commitShard = () => Promise.reject(new Error("no answer"));
    await expect(one.sweepAll(0)).rejects.toThrow("no answer");
    shards.commitShard = commitShard;
    await one.sweepAll(0, 0);
    expect(await lines()).toBe(2);
    expect(await log.read([{ kind: "recording", id: "x" }], 0)).toMatchObject([{ at: T0, reason: "no_location" }]);
  });

  it("a recording that its own shard has read is not another one's, though others are absent there", async () => {
    const answers = [online("a", "c"), online("a"), rows(row("a", "online", "south"))];
    const one = replica(answers, { assignments: twoShards });
    await one.store.inventory.saveRecordings([named("a")]);
    await one.sweepAll(0, 0, 1);
    expect((await one.attempt())?.absent).toBe(1);
    expect((await one.state(1)).recordings.has("a")).toBe(false);
  });

  it("a recording that is missing since before a start is named as it is stored", async () => {
    const rules = [missingRule()];
    const before = replica([online("a", "b")], { rules });
    await before.sweep(0);
    await before.store.inventory.saveRecordings([named("a", "Door")]);
    await replica([], { rules, startedAt: T0 + STEP }).sweep(0);
    expect((await testStore().store.shards.alerts()).map(({ labels }) => labels.recording)).toEqual(["Door"]);
  });

  it("a recording whose alert ends without evidence keeps its name", async () => {
    const one = replica([rows(row("a", "degraded")), offline], { rules: [degradedRule()] });
    await one.store.inventory.saveRecordings([named("a")]);
    await one.sweep(0);
    const { nonce, state } = await one.store.shards.read(0);
    const alerts = structuredClone(state.recordings.get("a")?.alerts ?? {});
    const almost = { RecordingDegraded: { ...alerts.RecordingDegraded, unknownMs: EVIDENCE_WAIT_MS - STEP } };
    const recordings = new Map([["a", { ...state.recordings.get("a"), alerts: almost } as RecordingState]]);
    await one.store.shards.commitShard(0, shardCommit(nonce, { ...state, recordings }));
    await one.sweepAll(0);
    expect(await firingNow()).toEqual(["RecordingDegraded/recording/a resolved"]);
    expect(one.store.inventory.recording("a")?.name).toBe("a");
  });
});
