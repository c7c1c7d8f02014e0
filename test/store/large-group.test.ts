import type { Command } from "ioredis";
import { expect, it } from "vitest";
import type { Alert } from "../../src/health/alert.ts";
import type { GroupOutcome, Settlement } from "../../src/store/groups.ts";
import { createStore } from "../../src/store/store.ts";
import { describeWithRedis } from "../support/redis.ts";
import {
  claimed,
  commit,
  committer,
  ends,
  fires,
  firing,
  groups,
  HOUR,
  LEASE,
  MINUTE,
  SECOND,
  slack,
  T0,
  to,
  useTestStore,
  WAIT,
} from "./fixtures.ts";

const MEMBERS = 1_250;
const alerts = Array.from({ length: MEMBERS }, (_, i) => firing(`camera-${i}`));
const now = T0 + WAIT;

const told = (all: readonly Alert[], at = now): Settlement => ({
  now: at,
  sent: true,
  notified: all.map((alert) => ({ alert, notifiedAt: at, groupId: "g" })),
  over: [],
  unnotified: [],
  nextAt: at + 4 * HOUR,
  lines: all.map(({ subject, ruleId }) => ({
    subject,
    ruleId,
    at,
    integration: slack.id,
    reason: "notified",
    detail: "first",
  })),
});

describeWithRedis("a group of more than a thousand members", () => {
  const testStore = useTestStore();

  async function fireAll(): Promise<void> {
    for (let from = 0; from < MEMBERS; from += 250)
      await commit(T0, ...alerts.slice(from, from + 250).map((alert) => fires(alert, to(slack.id))));
  }

  /** The most rows that one command of `work` reads. */
  async function mostRows(work: () => Promise<unknown>): Promise<number> {
    const { redis } = testStore();
    const send = redis.sendCommand.bind(redis);
    let most = 0;
    redis.sendCommand = (command: Command, ...rest) => {
      if (command.name === "hmget") most = Math.max(most, command.args.length - 1);
      return send(command, ...rest);
    };
    await work();
    redis.sendCommand = send;
    return most;
  }

  it("is claimed with all of them and settled, no call reads more than 500", async () => {
    await fireAll();
    const most = await mostRows(async () => {
      const claim = await claimed(now);
      expect(new Set(claim.alerts.map(({ id }) => id)).size).toBe(MEMBERS);
      expect(await groups.settle(slack, "t1", [{ group: "g", settle: told(claim.alerts) }])).toBe(now + 4 * HOUR);
    });
    expect(most).toBeGreaterThan(100);
    expect(most).toBeLessThanOrEqual(500);
    expect(await groups.notified(slack.id)).toHaveLength(MEMBERS);
    expect((await claimed(now + 4 * HOUR, "t2")).notified.size).toBe(MEMBERS);
  });

  it.each([
    ["before it is written", false, 0],
    ["before it learns that it is", true, MEMBERS],
  ])("killed while it is settled, %s, it is settled whole or not at all", async (_, isWritten, expected) => {
    await fireAll();
    const client = testStore().redis.duplicate();
    const { groups: dying } = createStore(client, testStore().prefix);
    const send = client.sendCommand.bind(client);
    client.sendCommand = async (command: Command, ...rest) => {
      const isTransaction = command.name.startsWith("eval");
      const reply = isWritten || !isTransaction ? await send(command, ...rest) : undefined;
      if (isTransaction) throw new Error("killed");
      return reply;
    };
    const { alerts: members } = await claimed(now);
    await expect(dying.settle(slack, "t1", [{ group: "g", settle: told(members) }])).rejects.toThrow("killed");
    client.disconnect();
    await testStore().endLease(slack.id);
    const next = await groups.claim(slack, "t2", now + SECOND, LEASE);
    expect(next).toEqual({ kind: "idle", until: now + (expected ? 4 * HOUR : LEASE) });
    expect(await groups.notified(slack.id)).toHaveLength(expected);
  });

  it("keeps what changed while it was sent for the next message", async () => {
    await fireAll();
    const claim = await claimed(now);
    await committer(testStore(), 1)(now + SECOND, ends(alerts[0] as Alert, now + SECOND));
    await groups.settle(slack, "t1", [{ group: "g", settle: told(claim.alerts) }]);
    const next = await claimed(now + 5 * MINUTE, "t2");
    expect(next.alerts.filter(({ state }) => state === "resolved")).toHaveLength(1);
  });

  it("that a message is refused for is given back with every line", async () => {
    await fireAll();
    const { log } = testStore().store;
    const { alerts: members } = await claimed(now);
    const failure = { code: "server_error", detail: "503", scope: "endpoint" } as const;
    const lines = told(members).lines?.map((line) => ({ ...line, reason: "failed" }));
    const outcome: GroupOutcome = { group: "g", postpone: { now, at: now + MINUTE, failure, lines } };
    await groups.settle(slack, "t1", [outcome]);
    expect(
      await log.read(
        members.map(({ subject }) => subject),
        0,
      ),
    ).toHaveLength(MEMBERS);
    expect(await groups.claim(slack, "t2", now, LEASE)).toEqual({ kind: "idle", until: now + MINUTE });
  });
});

describeWithRedis("what fires", () => {
  const testStore = useTestStore();

  it("is read again only where it changed, by any process", async () => {
    await commit(T0, ...alerts.map((alert) => fires(alert, to(slack.id))));
    const { firing: read } = testStore().replica();
    const before = await read();
    expect(before).toHaveLength(MEMBERS);
    expect(await read()).toBe(before);
    await commit(T0 + SECOND, ends(alerts[3] as Alert, T0 + SECOND), fires(firing("other", T0), to(slack.id)));
    const { redis } = testStore();
    const send = redis.sendCommand.bind(redis);
    const asked: string[] = [];
    redis.sendCommand = (command: Command, ...rest) => {
      asked.push(`${command.name} ${command.args.length}`);
      return send(command, ...rest);
    };
    const after = await read();
    redis.sendCommand = send;
    expect(asked).toEqual(["lindex 2", "lrange 3", "hmget 3"]);
    expect(after).toHaveLength(MEMBERS);
    expect(after[0]).toBe(before[0]);
  });

  it("is read whole where this process is far behind, and where Redis was emptied", async () => {
    await commit(T0, fires(firing("first"), to(slack.id)));
    const { firing: read } = testStore().replica();
    expect(await read()).toHaveLength(1);
    for (let i = 0; i < 250; i++) await commit(T0 + i, fires(firing(`camera-${i}`), to(slack.id)));
    expect(await read()).toHaveLength(251);
    const { redis, store } = testStore();
    await redis.del(store.keys.alerts, store.keys.alertsLog);
    expect(await read()).toEqual([]);
    await committer(testStore(), 7)(T0 + HOUR, fires(firing("new"), to(slack.id)));
    expect(await read()).toHaveLength(1);
  });
});
