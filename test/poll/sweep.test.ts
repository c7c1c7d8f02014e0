import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { EVIDENCE_WAIT_MS } from "../../src/health/apply-rules.ts";
import type { Rule } from "../../src/health/model.ts";
import type { Reading, StatusSnapshot } from "../../src/health/recording.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createCommit } from "../../src/poll/commit.ts";
import { createSweep } from "../../src/poll/sweep.ts";
import { StoreError } from "../../src/store/errors.ts";
import { degradedRule, offlineRule, rule } from "../health/shard-history.ts";
import { rootRoute } from "../http/serve.ts";
import { HOUR, integration, SECOND, T0, useTestStore } from "../store/fixtures.ts";
import { aRecording } from "../support/fixtures.ts";
import { heapMeter } from "../support/heap.ts";
import { describeWithRedis } from "../support/redis.ts";

const STEP = 30 * SECOND;
const slack = integration("ops/slack/0");

const offline = offlineRule();

const row = (recordingId: string, status: Reading["status"], locationId = "north"): Reading => ({
  recordingId,
  locationId,
  status,
  lastSeenAt: undefined,
  averageQuality: 1,
});
const rows = (...readings: Reading[]): StatusSnapshot => ({ readings, unreadable: [], unidentified: 0 });

const named = (id: string) => aRecording(id, { name: id, locationId: "north", timezone: "UTC" });

describeWithRedis("a sweep", () => {
  const testStore = useTestStore();

  function replica(
    answers: (StatusSnapshot | Error | (() => Promise<StatusSnapshot>))[],
    rules: readonly Rule[] = [offline],
    startedAt = T0,
    statusIntervalMs = STEP,
  ) {
    const store = testStore().replica();
    const assigned = createAssigned(() => store.assignments.read());
    const asked: (readonly string[])[] = [];
    const followed: (StatusSnapshot | null | undefined)[] = [];
    const looked: (readonly string[])[] = [];
    const woken: string[] = [];
    const outcomes: string[] = [];
    const clock = { at: startedAt };
    const sweep = createSweep({
      clock: { now: () => clock.at },
      log: silentLogger,
      service: {
        async statusUptime({ entities, last }) {
          asked.push(entities);
          followed.push(last);
          const answer = answers.shift() ?? rows(row("b", "online"));
          if (answer instanceof Error) throw answer;
          return typeof answer === "function" ? answer() : answer;
        },
      },
      store: store.shards,
      assigned,
      inventory: store.inventory,
      nameThem: (ids) => {
        looked.push(ids);
        return store.inventory.know(ids);
      },
      uptime: store.uptime,
      schedules: () => ({ scheduleOf: () => undefined, scheduleBegan: () => undefined, inSchedule: () => true }),
      rules,
      watch: {
        exclude: [],
        forgetAfterMs: 24 * HOUR,
        statusIntervalMs,
        uptimeIntervalMs: HOUR,
        locationsPerRequest: 2,
      },
      commit: createCommit({
        log: silentLogger,
        route: { ...rootRoute, groupWaitMs: 0, groupIntervalMs: 0, repeatIntervalMs: HOUR },
        integrations: [slack],
        maintenance: [
          {
            name: "stock-take",
            matchers: parseMatchers("recording_id=a"),
            timeIntervals: [{ name: "always", intervals: [{ location: "UTC" }] }],
            comment: "",
          },
        ],
        wake: async (due) => void woken.push(...due.keys()),
      }),
      swept: (outcome) => void outcomes.push(outcome),
    });
    return { sweep, store, assigned, answers, asked, followed, looked, woken, outcomes, clock };
  }

  const north = new Map([["north", 0]]);
  const firingNow = async () => (await testStore().store.shards.alerts()).map(({ key, state }) => `${key} ${state}`);

  it("asks for its locations, remembers what it saw and wakes who has something to say", async () => {
    const one = replica([rows(row("a", "offline"), row("b", "online"))]);
    one.assigned.set(north);
    await one.sweep(0);
    expect(one.asked).toEqual([["north"]]);
    expect([one.outcomes, one.woken]).toEqual([["ok"], [slack.id]]);
    expect(await firingNow()).toEqual(["RecordingOffline/recording/a firing"]);
  });

  it.each([29_999, 30_000])(
    "reads an answer beside the last one only at intervals below 30 s: %d ms",
    async (intervalMs) => {
      const answers = [rows(row("a", "online")), rows(row("a", "online"))];
      const [first] = answers;
      const one = replica(answers, [offline], T0, intervalMs);
      one.assigned.set(north);
      await one.sweep(0);
      await one.sweep(0);
      expect(one.followed).toEqual(intervalMs < 30_000 ? [null, first] : [undefined, undefined]);
    },
  );

  it.each([29_999, 30_000])("keeps readings only at intervals below 30 s: %d ms", async (intervalMs) => {
    const answers = [1, 2].map(() => rows(row("a", "online")));
    const kept = new WeakRef(answers[1]?.readings ?? []);
    const one = replica(answers, [offline], T0, intervalMs);
    one.assigned.set(north);
    await one.sweep(0);
    await one.sweep(0);
    await setImmediate();
    heapMeter()();
    expect(kept.deref() !== undefined).toBe(intervalMs < 30_000);
  });

  it("sees a recording that is new in the list of the answer before", async () => {
    const readings = [row("a", "online")];
    const same = { ...rows(), readings };
    const one = replica([same, same], [offline], T0, 5 * SECOND);
    one.assigned.set(north);
    await one.sweep(0);
    await one.sweep(0);
    readings.push(row("b", "online"));
    one.answers.push({ ...same });
    await one.sweep(0);
    expect(one.looked.map((ids) => ids.join())).toEqual(["a", "b"]);
  });

  it("looks up the names of all every 30 s while one is unknown or a name changed, else every two minutes", async () => {
    const same = rows(row("a", "online"));
    const one = replica([], [offline], T0, 5 * SECOND);
    one.assigned.set(north);
    const lookedUp = async (seconds: number, answer = same) => {
      one.looked.length = 0;
      for (let i = 0; i < seconds; i += 5) {
        one.clock.at += 5 * SECOND;
        one.answers.push(answer);
        await one.sweep(0);
      }
      return one.looked.map((ids) => ids.join());
    };
    expect(await lookedUp(60), "unknown").toEqual(["a", "a"]);
    await one.store.inventory.saveRecordings([named("a")]);
    expect(await lookedUp(60), "known from the first look on").toEqual(["a"]);
    expect(await lookedUp(120)).toEqual(["a"]);
    await one.store.inventory.saveRecordings([named("b")]);
    expect(await lookedUp(30), "another name").toEqual(["a"]);
    expect(await lookedUp(30, rows(row("a", "online"), row("c", "online"))), "a new one").toEqual(["c", "a,c"]);
  });

  it("an incident that began in a maintenance has its name", async () => {
    const one = replica([rows(row("a", "offline")), rows(row("a", "online")), rows(row("a", "online"))]);
    one.assigned.set(north);
    for (let i = 0; i < 3; i++) {
      await one.sweep(0);
      one.clock.at += STEP;
    }
    expect(await one.store.incidents.endedSince(0)).toMatchObject([
      { ruleId: "RecordingOffline", planned: "stock-take" },
    ]);
  });

  it("a question that failed changes nothing but the note that it failed", async () => {
    const one = replica([rows(row("a", "offline")), new Error("No answer.")]);
    one.assigned.set(north);
    await one.sweep(0);
    const before = await one.store.shards.read(0);
    one.clock.at += STEP;
    await one.sweep(0);
    expect(one.outcomes).toEqual(["ok", "failed"]);
    expect(await one.store.shards.read(0)).toBe(before);
    expect((await one.store.shards.attempts()).get("shard:0")).toMatchObject({
      goodAt: T0,
      attemptedAt: T0 + STEP,
      error: "No answer.",
    });
    expect(await firingNow()).toEqual(["RecordingOffline/recording/a firing"]);
  });

  it("notes since when a location has no answer while others have, also where whole sweeps fail in between", async () => {
    const refused = new Error("No answer.");
    const north = [rows(row("a", "online")), rows(row("a", "online"))] as const;
    const one = replica([...north, north[0], refused, refused, refused, refused, north[0]]);
    one.assigned.set(new Map(["north", "east", "south"].map((id) => [id, 0])));
    const unread: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      await one.sweep(0);
      unread.push((await one.store.shards.attempts()).get("shard:0")?.unread);
      one.clock.at += STEP;
    }
    expect(unread).toEqual([undefined, { south: T0 }, { south: T0 }, { north: T0 + STEP, east: T0 + STEP }]);
  });

  it("a judgement that lost its race is thrown away, and wakes nobody", async () => {
    const quick = replica([rows(row("a", "online"))]);
    quick.assigned.set(north);
    const slow = replica([
      async () => {
        await quick.sweep(0);
        return rows(row("a", "offline"));
      },
    ]);
    slow.assigned.set(north);
    await slow.sweep(0);
    expect([quick.outcomes, slow.outcomes, slow.woken]).toEqual([["ok"], ["lost"], []]);
    expect(await firingNow()).toEqual([]);
  });

  it("a slow answer counts from when it was asked for, not from when it came", async () => {
    const one = replica([
      async () => {
        one.clock.at += 20 * SECOND;
        return rows(row("a", "offline"));
      },
    ]);
    one.assigned.set(north);
    await one.sweep(0);
    const { sweptAt, recordings } = (await one.store.shards.read(0)).state;
    expect([sweptAt, recordings.get("a")?.readAt, recordings.get("a")?.since]).toEqual([T0, T0, T0]);
    expect((await one.store.shards.attempts()).get("shard:0")).toMatchObject({ goodAt: T0, attemptedAt: T0 });
    const [alert] = await one.store.shards.alerts();
    expect([alert?.startsAt, alert?.firedAt]).toEqual([T0, T0]);
  });

  it("slow answers add up for a rule by the time between their questions", async () => {
    const slowly = (ms: number) => async () => {
      one.clock.at += ms;
      return rows(row("a", "offline"));
    };
    const one = replica([slowly(0), slowly(20 * SECOND), slowly(0)], [{ ...offline, forMs: 40 * SECOND }]);
    one.assigned.set(north);
    await one.sweep(0);
    one.clock.at = T0 + STEP;
    await one.sweep(0);
    expect(one.clock.at).toBe(T0 + STEP + 20 * SECOND);
    expect(await firingNow()).toEqual([]);
    one.clock.at = T0 + 2 * STEP;
    await one.sweep(0);
    expect(await firingNow()).toEqual(["RecordingOffline/recording/a firing"]);
  });

  it("an older question that fails late says nothing against a newer one that was answered", async () => {
    const quick = replica([rows(row("a", "online"))]);
    quick.assigned.set(north);
    const slow = replica([
      async () => {
        quick.clock.at = T0 + 5 * SECOND;
        await quick.sweep(0);
        slow.clock.at = T0 + 20 * SECOND;
        throw new Error("No answer.");
      },
    ]);
    slow.assigned.set(north);
    await slow.sweep(0);
    expect([quick.outcomes, slow.outcomes]).toEqual([["ok"], ["failed"]]);
    const at = T0 + 5 * SECOND;
    expect((await quick.store.shards.attempts()).get("shard:0")).toMatchObject({ goodAt: at, attemptedAt: at });
  });

  it.each<[string, boolean]>([
    ["come too slowly", false],
    ["fail in between", true],
  ])(
    "answers that %s are noted as late until they are in time again, and an outage fires by their rhythm",
    async (_, fails) => {
      const one = replica([], [{ ...offline, forMs: 12 * STEP }]);
      one.assigned.set(north);
      const lateMs = async () => (await one.store.shards.attempts()).get("shard:0")?.lateMs;
      const sweepAfter = async (gapMs: number) => {
        if (fails) one.answers.push(new Error("No answer."));
        one.clock.at += gapMs - STEP / 2;
        if (fails) await one.sweep(0);
        one.clock.at += STEP / 2;
        one.answers.push(rows(row("a", "offline")));
        await one.sweep(0);
        return lateMs();
      };
      const noted: (number | undefined)[] = [];
      for (let i = 0; i < 7; i++) noted.push(await sweepAfter(4 * STEP));
      expect(noted).toEqual([undefined, undefined, ...Array(5).fill(4 * STEP)]);
      expect(await firingNow()).toEqual(["RecordingOffline/recording/a firing"]);
      const after: boolean[] = [];
      for (let i = 0; i < 5; i++) after.push((await sweepAfter(STEP)) === undefined);
      expect(after).toEqual([false, false, false, true, true]);
    },
  );

  it("a gap with a start in it is nobody's rhythm", async () => {
    const one = replica([rows(row("a", "offline"))]);
    one.assigned.set(north);
    await one.sweep(0);
    const started = replica([rows(row("a", "offline"))], [offline], one.clock.at + 8 * STEP);
    started.assigned.set(north);
    await started.sweep(0);
    expect((await started.store.shards.read(0)).state.gaps).toEqual([]);
  });

  it("an answer of which no row is understood is a failed one that says what it was", async () => {
    const said = (id: string) => ({ ...row(id, "unknown"), said: "disconnected" });
    const one = replica([rows(row("a", "offline")), rows(said("a"), said("b"))]);
    one.assigned.set(north);
    await one.sweep(0);
    const before = await one.store.shards.read(0);
    one.clock.at += STEP;
    await one.sweep(0);
    expect(one.outcomes).toEqual(["ok", "failed"]);
    expect(await one.store.shards.read(0)).toBe(before);
    expect((await one.store.shards.attempts()).get("shard:0")).toMatchObject({
      goodAt: T0,
      attemptedAt: T0 + STEP,
      error: 'The service answers "disconnected" for 2 recordings',
    });
  });

  it("recordings that nobody understands among others are counted once their last reading is old, with the reason", async () => {
    const one = replica([rows(row("a", "online"), row("b", "online"))]);
    one.assigned.set(north);
    await one.sweep(0);
    const noted: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      one.clock.at += STEP;
      one.answers.push({ ...rows({ ...row("a", "unknown"), said: "gone\n" }, row("b", "online")), unidentified: 1 });
      await one.sweep(0);
      const { stale, error } = (await one.store.shards.attempts()).get("shard:0") ?? {};
      noted.push([stale, error]);
    }
    const error = 'The service answers "gone\\n" for 1 recording, sends 1 row without the id of a recording';
    expect(noted).toEqual([...Array(3).fill([0, undefined]), [1, error]]);
  });

  it("a sweep that fails in lenswatch itself is noted, without its cause, and how many recordings it concerns", async () => {
    const one = replica([rows(row("a", "online"), row("b", "online"))]);
    one.assigned.set(north);
    one.store.shards.commitShard = () => Promise.reject(new Error("ERR secret"));
    const sweep = one.sweep(0);
    await expect(sweep).rejects.toThrow("secret");
    const attempt = (await one.store.shards.attempts()).get("shard:0");
    expect(attempt).toMatchObject({ goodAt: 0, attemptedAt: T0, fault: "internal", known: 2 });
    expect(attempt?.error).not.toContain("secret");
  });

  it("looks up names again once the clock is set back: they leave memory by another one", async () => {
    const one = replica([rows(row("a", "online")), rows(row("a", "online"))]);
    await one.store.inventory.saveRecordings([named("a")]);
    one.assigned.set(north);
    await one.sweep(0);
    one.clock.at -= HOUR;
    await one.sweep(0);
    expect(one.looked).toEqual([["a"], ["a"]]);
  });

  it("a shard of more locations than a request may have is asked in several, and what failed of it stays", async () => {
    const one = replica([
      rows(row("a", "offline"), row("s", "online", "south")),
      rows(row("w", "offline", "west")),
      rows(row("a", "online"), row("s", "online", "south")),
      new Error("No answer."),
    ]);
    one.assigned.set(new Map(["north", "south", "west"].map((id) => [id, 0])));
    await one.sweep(0);
    one.clock.at += STEP;
    await one.sweep(0);
    expect(one.asked.slice(0, 2)).toEqual([["north", "south"], ["west"]]);
    expect(one.outcomes).toEqual(["ok", "ok"]);
    expect((await firingNow()).sort()).toEqual([
      "RecordingOffline/recording/a resolved",
      "RecordingOffline/recording/w firing",
    ]);
    const noted = { goodAt: one.clock.at, attemptedAt: one.clock.at, error: "No answer." };
    expect((await one.store.shards.attempts()).get("shard:0")).toMatchObject(noted);
  });

  it("segments that most of the fleet lacks are no evidence about a recording", async () => {
    const rule = {
      ...offline,
      id: "R",
      alert: "R",
      when: { kind: "segments_received" as const, below: 0.05, clearAbove: 0.5, overMs: HOUR },
    };
    const one = replica([], [rule]);
    one.assigned.set(north);
    const { uptime, shards } = one.store;
    await one.sweep(0);
    await uptime.saveFigures(0, T0, new Map([[`online-${HOUR}`, new Map([["b", 0]])]]));
    const note = (absent: number) => shards.noteAttempt("uptime:0", T0, undefined, T0, { known: 20, absent });
    await note(11);
    one.clock.at += STEP;
    await one.sweep(0);
    expect(await firingNow()).toEqual([]);
    await note(10);
    one.clock.at += STEP;
    await one.sweep(0);
    expect(await firingNow()).toEqual(["R/recording/b firing"]);
  });

  it("absence is believed by what the other shards lack, not by the last sweep of its own", async () => {
    const all = ["a", "b", "c", "d", "e", "f"].map((id) => row(id, "online"));
    const few = rows(...all.slice(0, 2));
    const one = replica([rows(...all), few, few], [rule("M", { kind: "missing" })]);
    one.assigned.set(north);
    await one.sweep(0);
    one.clock.at += STEP;
    await one.sweep(0);
    expect(await firingNow()).toEqual([]);
    one.clock.at += STEP;
    await one.store.shards.noteAttempt("shard:1", one.clock.at, undefined, one.clock.at, { known: 20, absent: 0 });
    await one.sweep(0);
    expect(await firingNow()).toHaveLength(4);
  });

  it("before assignments are known nothing is swept; one under way is not begun again", async () => {
    const one = replica([]);
    await one.sweep(0);
    expect([one.asked, one.outcomes]).toEqual([[], []]);
    one.assigned.set(north);
    await Promise.all([one.sweep(0), one.sweep(0)]);
    expect(one.outcomes).toEqual(["ok"]);
  });

  it("a shard without locations asks nobody, ends what was said, and leaves nothing behind", async () => {
    const one = replica([rows(row("a", "offline"))]);
    one.assigned.set(north);
    await one.sweep(0);
    await one.store.uptime.saveFigures(0, T0, new Map());
    one.assigned.set(new Map());
    one.clock.at += STEP;
    await one.sweep(0);
    expect(one.asked).toHaveLength(1);
    expect(await firingNow()).toEqual(["RecordingOffline/recording/a resolved"]);
    const [ended] = await one.store.incidents.endedSince(0);
    expect(ended?.endReason).toBe("no_longer_watched");
    const left = await testStore().keys();
    expect(left.filter((key) => /^(shard|uptime|figures|attempts|recordings)/.test(key))).toEqual([]);
  });

  it("a replica that does not know of a location yet ends nothing of it", async () => {
    const { store } = testStore();
    await store.assignments.update(["north", "south"], [], 2);
    const knows = replica([rows(row("a", "online"), row("s", "offline", "south"))]);
    await knows.assigned.follow();
    await knows.sweep(0);
    const stale = replica([rows(row("a", "online")), rows(row("a", "online"), row("s", "offline", "south"))]);
    stale.assigned.set(north);
    await stale.sweep(0);
    expect(stale.outcomes).toEqual(["lost"]);
    expect(await firingNow()).toEqual(["RecordingOffline/recording/s firing"]);
    await stale.sweep(0);
    expect(stale.asked[1]).toEqual(["north", "south"]);
    expect(await firingNow()).toEqual(["RecordingOffline/recording/s firing"]);
  });

  const twoShards = new Map([
    ["north", 0],
    ["south", 1],
  ]);

  it("a camera that moved to a location of another shard is missing at neither", async () => {
    const one = replica([
      rows(row("a", "offline"), row("b", "online")),
      rows(row("c", "online", "south")),
      rows(row("a", "offline", "south"), row("c", "online", "south")),
      rows(row("b", "online")),
      rows(row("a", "offline", "south"), row("c", "online", "south")),
      rows(row("b", "online")),
    ]);
    one.assigned.set(twoShards);
    await one.store.inventory.saveRecordings([named("a")]);
    for (const shard of [0, 1, 1, 0, 1, 0]) {
      one.clock.at += STEP;
      await one.sweep(shard);
    }
    expect((await one.store.shards.read(0)).state.recordings.has("a")).toBe(false);
    expect((await one.store.shards.read(1)).state.recordings.get("a")?.locationId).toBe("south");
    expect(await firingNow()).toContain("RecordingOffline/recording/a firing");
    expect((await one.store.incidents.endedSince(0)).map(({ endReason }) => endReason)).toEqual(["no_longer_watched"]);
  });

  it("another shard that cannot be read here is not noted as failing: its own replica may read it", async () => {
    const one = replica([rows(row("a", "online", "south"))]);
    one.assigned.set(twoShards);
    await one.store.inventory.saveRecordings([named("a")]);
    const read = async (shard: number) => {
      if (shard === 0) throw new StoreError("unreadable", "A stored document has format 99.");
      return testStore().store.shards.read(shard);
    };
    one.store.shards.read = read;
    await one.store.shards.noteAttempt("shard:0", T0);
    one.clock.at += STEP;
    await one.sweep(1);
    expect(one.outcomes).toEqual(["ok"]);
    expect(await one.store.shards.attemptsOf(["shard:0"])).toEqual(
      new Map([["shard:0", { goodAt: T0, attemptedAt: T0 }]]),
    );
    await one.sweep(0);
    expect((await one.store.shards.attemptsOf(["shard:0"])).get("shard:0")).toMatchObject({ fault: "unreadable" });
  });

  it("beside a shard that cannot be read no recording is missing: it may have moved there", async () => {
    const b = rows(row("b", "online"), row("c", "online"));
    const one = replica([rows(row("a", "online"), ...b.readings), b, b, b], [rule("M", { kind: "missing" })]);
    one.assigned.set(twoShards);
    await one.sweep(0);
    await one.store.shards.noteAttempt("shard:1", T0, "A stored document is damaged.", T0, { fault: "unreadable" });
    one.clock.at += STEP;
    await one.sweep(0);
    expect(await firingNow()).toEqual([]);
    await one.store.shards.noteAttempt("shard:1", one.clock.at);
    for (let i = 0; i < 2; i++) {
      one.clock.at += STEP;
      await one.sweep(0);
    }
    expect(await firingNow()).toEqual(["M/recording/a firing"]);
  });

  it("a camera that its own shard lists at a location of another one keeps its name and labels", async () => {
    const one = replica([
      rows(row("a", "offline"), row("b", "online")),
      rows(row("a", "offline", "south"), row("b", "online")),
      rows(row("a", "offline", "south")),
    ]);
    one.assigned.set(twoShards);
    await one.store.inventory.saveRecordings([aRecording("a", { name: "Door", locationId: "north" })]);
    for (const shard of [0, 0, 1]) {
      one.clock.at += STEP;
      await one.sweep(shard);
      expect(one.store.inventory.recording("a")?.name).toBe("Door");
    }
    const firing = (await one.store.shards.alerts()).filter(({ state }) => state === "firing");
    expect(firing.map(({ labels }) => [labels.recording, labels.location_id])).toEqual([["Door", "south"]]);
    const lines = await one.store.log.read([{ kind: "recording", id: "a" }], 0);
    expect(lines.map(({ reason }) => reason)).toContain("moved");
  });

  it("a recording that is missing since before a start is named as it is stored", async () => {
    const missing = rule("RecordingMissing", { kind: "missing" });
    const before = replica([rows(row("a", "online"), row("b", "online"))], [missing]);
    before.assigned.set(north);
    await before.sweep(0);
    await before.store.inventory.saveRecordings([aRecording("a", { name: "Door", locationId: "north" })]);
    const after = replica([], [missing], T0 + STEP);
    after.assigned.set(north);
    await after.sweep(0);
    expect((await testStore().store.shards.alerts()).map(({ labels }) => labels.recording)).toEqual(["Door"]);
  });

  it("a recording whose alert ends without evidence keeps its name", async () => {
    const one = replica([rows(row("a", "degraded")), rows(row("a", "offline"))], [degradedRule()]);
    one.assigned.set(north);
    await one.store.inventory.saveRecordings([named("a")]);
    await one.sweep(0);
    const { nonce, state } = await one.store.shards.read(0);
    const alerts = structuredClone(state.recordings.get("a")?.alerts ?? {});
    const almost = { RecordingDegraded: { ...alerts.RecordingDegraded, unknownMs: EVIDENCE_WAIT_MS - STEP } };
    const recordings = new Map([["a", { ...state.recordings.get("a"), alerts: almost } as RecordingState]]);
    const before = { state: { ...state, recordings }, expected: nonce, now: one.clock.at, changes: [], lines: [] };
    await one.store.shards.commitShard(0, before);
    one.clock.at += STEP;
    await one.sweep(0);
    expect(await firingNow()).toEqual(["RecordingDegraded/recording/a resolved"]);
    expect(one.store.inventory.recording("a")?.name).toBe("a");
  });

  it("who left the fleet loses the name that was kept", async () => {
    const one = replica([rows(row("a", "online"), row("b", "online"))]);
    one.assigned.set(north);
    await one.store.inventory.saveRecordings([named("a"), named("b")]);
    for (let at = 0; at < 24 * HOUR; at += 2 * STEP) {
      one.clock.at = T0 + at;
      await one.sweep(0);
    }
    expect(one.store.inventory.recording("a")).toBeDefined();
    one.clock.at = T0 + 24 * HOUR;
    await one.sweep(0);
    expect(one.store.inventory.recording("a")).toBeUndefined();
    expect(one.store.inventory.recording("b")).toBeDefined();
  });
});
