import { expect, it } from "vitest";
import type { Claimed, ClaimedStorm, GroupOutcome } from "../../src/store/groups.ts";
import { describeWithRedis } from "../support/redis.ts";
import {
  committer,
  ends,
  fires,
  firing,
  groups,
  HOUR,
  LEASE,
  MINUTE,
  SECOND,
  sentOf,
  slack,
  T0,
  type TestStore,
  to,
  useTestStore,
} from "./fixtures.ts";

const AHEAD = 30 * SECOND;
const stormy = { stormGroups: 10, groupWaitMs: 0 };

describeWithRedis("many groups that are due at once", () => {
  const testStore = useTestStore();

  /** `count` groups of one alert each, from `g00` on. */
  async function wind(count: number, now = T0, more: Parameters<typeof to>[2] = stormy, from = 0) {
    const names = Array.from({ length: count }, (_, i) => `g${String(i + from).padStart(2, "0")}`);
    await committer(testStore(), from + 1)(
      now,
      ...names.map((name) => fires(firing(name, now), to(slack.id, name, more))),
    );
  }

  const claim = (now = T0, token = "t", aheadMs = AHEAD, at: TestStore = testStore()) =>
    at.store.groups.claim(slack, token, now, LEASE, aheadMs);

  async function storm(now = T0, token = "t"): Promise<ClaimedStorm> {
    const claimed = await claim(now, token);
    if (claimed.kind !== "storm") throw new Error(`no storm: ${JSON.stringify(claimed)}`);
    return claimed;
  }

  const tell = (groups: readonly Claimed[], now: number): GroupOutcome[] =>
    groups.map(({ group, alerts }) => ({ group, settle: sentOf(now, alerts, [], group) }));

  it("ten are claimed one by one, eleven together, each with its members", async () => {
    await wind(10);
    expect(await claim()).toMatchObject({ kind: "group", group: "g00", stormGroups: 10 });
    await testStore().endLease(slack.id);
    await groups.settle(slack, "t", [{ group: "g00", postpone: { now: T0, at: T0 } }]);
    await wind(1, T0, stormy, 10);
    const { groups: all, due, isAll, leaseMs } = await storm();
    expect([all.length, due, isAll, leaseMs]).toEqual([11, 11, true, 20 * SECOND]);
    expect(all[4]).toMatchObject({ group: "g04", alerts: [{ key: "g04" }], notified: new Map() });
  });

  it("one lease covers them all, and the claim asked again gives them all again", async () => {
    await wind(12);
    const first = await storm();
    expect(await claim(T0, "other")).toMatchObject({ kind: "busy" });
    expect((await storm()).groups).toEqual(first.groups);
  });

  it("a group due for the first time a little later joins, by its own group_wait at most", async () => {
    await wind(6);
    await wind(6, T0, { stormGroups: 10, groupWaitMs: 20 * SECOND }, 6);
    await wind(6, T0, { stormGroups: 10, groupWaitMs: MINUTE }, 12);
    const { groups } = await storm();
    expect(groups.map(({ group }) => group)).toEqual(
      Array.from({ length: 12 }, (_, i) => `g${String(i).padStart(2, "0")}`),
    );
  });

  it("a group in backoff, or notified a moment ago, does not join early", async () => {
    await wind(12);
    const { groups: claimed } = await storm();
    const [refused, spoken, ...others] = tell(claimed, T0);
    if (!refused || !spoken) throw new Error("no groups");
    const failure = { code: "bad_request", detail: "No.", scope: "message" } as const;
    const again = others.map(({ group }) => ({ group, postpone: { now: T0, at: T0 + SECOND } }));
    const rests = { group: refused.group, postpone: { now: T0, at: T0 + 10 * SECOND, failure } };
    await groups.settle(slack, "t", [rests, spoken, ...again]);
    await committer(testStore(), 50)(T0 + SECOND, ends(firing("g01"), T0 + SECOND));
    await wind(2, T0 + SECOND, stormy, 20);
    const names = (await storm(T0 + SECOND, "t2")).groups.map(({ group }) => group);
    expect(names).toHaveLength(12);
    expect(names).not.toContain("g00");
    expect(names).not.toContain("g01");
  });

  it("where ends are gathered, groups that wait with something to send join, and any two are one", async () => {
    await wind(3);
    await wind(1, T0, { ...stormy, groupWaitMs: 4 * MINUTE }, 20);
    const take = (gathersEnds: boolean, token: string) =>
      groups.claim(slack, token, T0 + MINUTE, LEASE, AHEAD, gathersEnds);
    const first = await take(false, "t1");
    if (first.kind !== "group") throw new Error(first.kind);
    const waits = {
      sent: false,
      notified: [],
      over: [],
      unnotified: [],
      nextAt: T0 + 5 * MINUTE,
      endsWait: true,
    } as const;
    await groups.settle(slack, "t1", [{ group: first.group, settle: { now: T0 + MINUTE, ...waits } }]);
    const together = await take(true, "t2");
    if (together.kind !== "storm") throw new Error(together.kind);
    expect(together.groups.map(({ group }) => group).sort()).toEqual(["g00", "g01", "g02"]);
  });

  it("one that is refused is halved, so that one group does not block the others", async () => {
    await wind(32, T0, { stormGroups: 1, groupWaitMs: 0 });
    const notified = new Set<string>();
    const sizes: number[] = [];
    let now = T0;
    for (let turn = 0; notified.size < 31 || sizes.at(-1) !== 1; turn++) {
      expect(turn).toBeLessThan(40);
      const token = `t${turn}`;
      const claimed = await claim(now, token);
      if (claimed.kind === "idle") {
        now = claimed.until ?? now;
        continue;
      }
      if (claimed.kind !== "storm" && claimed.kind !== "group") throw new Error(claimed.kind);
      const taken = claimed.kind === "storm" ? claimed.groups : [claimed];
      const isRefused = taken.some(({ group }) => group === "g07");
      if (isRefused) sizes.push(taken.length);
      else for (const { group } of taken) notified.add(group);
      const failure = { code: "bad_request", detail: "No.", scope: "message" } as const;
      const endings = isRefused
        ? taken.map(({ group }) => ({ group, postpone: { now, at: now + 10 * SECOND, failure } }))
        : tell(taken, now);
      await groups.settle(slack, token, endings);
    }
    expect(notified.has("g07")).toBe(false);
    expect(sizes.slice(0, 2)).toEqual([32, 16]);
    expect(sizes.length).toBeLessThan(10);
  });

  it("all of it is settled or none, and the same again changes nothing", async () => {
    await wind(12);
    const { groups: claimed } = await storm();
    const endings = tell(claimed, T0);
    expect(await groups.settle(slack, "t", endings, { gather: { until: T0 + AHEAD, ms: AHEAD } })).toBe(T0 + 4 * HOUR);
    expect(await groups.notified(slack.id)).toHaveLength(12);
    await groups.settle(slack, "t", endings, { gather: { until: T0 + AHEAD, ms: AHEAD } });
    expect(await groups.notified(slack.id)).toHaveLength(12);
    expect(await claim(T0 + SECOND, "t2")).toEqual({ kind: "idle", until: T0 + 4 * HOUR });
  });

  it("is settled also where Redis has forgotten its scripts", async () => {
    await wind(12);
    const { groups: claimed } = await storm();
    await groups.settle(slack, "nobody", tell(claimed, T0).slice(0, 1));
    await testStore().redis.script("FLUSH");
    await groups.settle(slack, "t", tell(claimed, T0));
    expect(await groups.notified(slack.id)).toHaveLength(12);
  });

  it("what follows a storm is gathered, and a single alert is claimed at once meanwhile", async () => {
    await wind(12);
    const { groups: claimed } = await storm();
    await groups.settle(slack, "t", tell(claimed, T0), { gather: { until: T0 + AHEAD, ms: AHEAD } });
    await wind(1, T0 + SECOND, stormy, 20);
    expect(await claim(T0 + SECOND, "t2")).toMatchObject({ kind: "group", group: "g20" });
    await groups.settle(slack, "t2", [{ group: "g20", postpone: { now: T0 + SECOND, at: T0 + SECOND } }]);
    await wind(12, T0 + 2 * SECOND, stormy, 30);
    expect(await claim(T0 + 2 * SECOND, "t3")).toEqual({ kind: "gather", until: T0 + AHEAD });
    expect((await storm(T0 + AHEAD, "t4")).groups).toHaveLength(13);
  });

  it("a storm that was sent when the clock was far ahead delays nothing", async () => {
    await wind(12);
    const { groups: claimed } = await storm();
    await groups.settle(slack, "t", tell(claimed, T0), { gather: { until: T0 + HOUR + AHEAD, ms: AHEAD } });
    await wind(12, T0 + SECOND, stormy, 20);
    expect((await storm(T0 + SECOND, "t2")).groups).toHaveLength(12);
  });

  it("killed under its claim it is due again whole; killed during its message that is claimed, and nothing else", async () => {
    await wind(12);
    const { groups: all } = await storm(T0, "dead");
    await testStore().endLease(slack.id);
    const again = await storm(T0 + 20 * SECOND, "t2");
    expect(again.groups).toHaveLength(12);
    for (const { unsure, dueSince } of again.groups) expect([unsure.size, [...dueSince.values()]]).toEqual([0, [T0]]);
    const about = Object.fromEntries(
      all.map(({ group, alerts }) => [group, { firing: alerts.map(({ id }) => id), resolved: [] }]),
    );
    const at = T0 + 21 * SECOND;
    const intent = { messageId: "m", at, askAt: at + 10 * SECOND, isSummary: true, groups: about };
    expect(await groups.intend(slack, { token: "dead", ms: LEASE }, intent)).toBe(false);
    expect(await groups.intend(slack, { token: "t2", ms: LEASE }, intent)).toBe(true);
    await testStore().endLease(slack.id);
    await wind(1, at, stormy, 12);
    expect(await claim(at + 9 * SECOND, "t3")).toEqual({ kind: "busy", until: at + 10 * SECOND });
    const claimed = await claim(at + MINUTE, "t3");
    expect(claimed).toMatchObject({ kind: "intent", intent, groups: again.groups.map(({ group }) => ({ group })) });
    const outcomes = again.groups.map(({ group }) => ({ group, postpone: { now: at, at: at + MINUTE } }));
    await groups.settle(slack, "t3", outcomes, { intent: "m" });
    expect(await claim(at + MINUTE, "t4")).toMatchObject({ kind: "storm", due: 13 });
  });

  it("a message about groups that are gone is claimed without any, and over with that", async () => {
    await wind(1);
    await claim(T0, "dead");
    const about = { gone: { firing: ["a"], resolved: [] } };
    await groups.intend(
      slack,
      { token: "dead", ms: LEASE },
      { messageId: "m", at: T0, askAt: T0, isSummary: false, groups: about },
    );
    await testStore().endLease(slack.id);
    const at = T0 + MINUTE;
    for (const _ of ["", "its reply was lost"])
      expect(await claim(at, "t")).toMatchObject({ kind: "intent", groups: [] });
    await groups.settle(slack, "t", [], { intent: "m" });
    expect(await claim(at, "t2")).toMatchObject({ kind: "group", group: "g00" });
  });
});
