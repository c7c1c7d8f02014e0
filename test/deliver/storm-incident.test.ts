/** A summary at PagerDuty whose answer was lost, over the real scripts: its incident ends with what it was about. */
import { expect, it } from "vitest";
import type { Notification } from "../../src/alerting/model.ts";
import { createDeliver } from "../../src/deliver/deliver.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { renderPagerDuty } from "../../src/notify/pagerduty.ts";
import {
  committer,
  ends,
  fires,
  firing,
  integration,
  MINUTE,
  markStarted,
  T0,
  to,
  useTestStore,
} from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const pager = integration("ops/pagerduty/0", { conversation: "edits", isIncident: true });
const [a, b, c] = [firing("a"), firing("b"), firing("c")];

describeWithRedis("the incident of a summary of unknown outcome", () => {
  const testStore = useTestStore();

  /** A summary of three groups whose answer is lost; then what ends, and when the rest is delivered. */
  async function begun() {
    const open = new Set<string>();
    const events: string[] = [];
    const silenced = new Set<string>();
    let [now, isLost] = [T0, true];
    const take = async (notification: Notification) => {
      for (const { event_action: action, dedup_key: key } of renderPagerDuty(notification, { sendResolved: true })) {
        events.push(action);
        if (action === "trigger") open.add(key);
        if (action === "resolve") open.delete(key);
      }
      if (isLost) throw new Error("lost");
      return { handle: notification.conversation?.id };
    };
    const delivery = createDeliver({
      clock: { now: () => now },
      log: silentLogger,
      groups: testStore().store.groups,
      senders: new Map([[pager.id, { integration: pager, send: take }]]),
      externalUrl: undefined,
      stormMs: 0,
      suppressions: async (claims) =>
        claims.map(({ alerts, suppressedBefore, maybeNotified }) => ({
          muted: undefined,
          suppressed: new Map(
            alerts.flatMap(({ id }) => (silenced.has(id) ? [[id, { reason: "silenced", by: "s" }] as const] : [])),
          ),
          suppressedBefore,
          maybeNotified: new Set(maybeNotified),
          recheckEveryMs: MINUTE,
          standsFor: new Map(),
        })),
      toRefusal: () => ({ code: "timeout", retryAfterMs: undefined, scope: "endpoint", message: "lost" }),
      wake: async () => {},
      notified() {},
      failed() {},
      suppressed() {},
    });
    const commit = committer(testStore());
    await markStarted(testStore());
    const at = (name: string) => to(pager.id, name, { stormGroups: 1, groupWaitMs: 0 });
    await commit(now, fires(a, at("a")), fires(b, at("b")), fires(c, at("c")));
    await delivery.deliver(pager.id);
    isLost = false;
    return {
      open,
      events,
      silence: (...alerts: (typeof a)[]) => {
        silenced.clear();
        for (const { id } of alerts) silenced.add(id);
      },
      end: (...alerts: (typeof a)[]) => commit(now, ...alerts.map((alert) => ends(alert, now))),
      pass: () => {
        now += 10 * MINUTE;
      },
      async deliver() {
        now += 10 * MINUTE;
        await delivery.deliver(pager.id);
      },
    };
  }

  /** As a reload does that sends these groups by themselves. */
  async function split() {
    const alone = (name: string) => to(pager.id, name, { groupWaitMs: 0 });
    const alerts = [a, b, c].map(({ id }, i) => ({ id, to: [alone("abc"[i] ?? "")] }));
    await testStore().store.groups.reroute(alerts, [pager.id], T0);
  }

  it("is resolved with the last of its groups where they are not a summary any more", async () => {
    const { open, events, end, deliver } = await begun();
    await split();
    await deliver();
    expect([events, open.size]).toEqual([["trigger", "trigger", "trigger", "trigger"], 1]);
    await end(a, b);
    await deliver();
    expect(open.size).toBe(1);
    await end(c);
    await deliver();
    expect([events.at(-1), open.size]).toEqual(["resolve", 0]);
  });

  it("stays open while a group of it fires, though others ended before it was sent again", async () => {
    const { open, events, end, pass, deliver } = await begun();
    await split();
    pass();
    await end(b, c);
    await deliver();
    expect([events, open.size]).toEqual([["trigger", "trigger"], 1]);
    await end(a);
    await deliver();
    expect([events.at(-1), open.size]).toEqual(["resolve", 0]);
  });

  it("is resolved with the last of its groups where all were suppressed before it was sent again", async () => {
    const { open, events, silence, end, deliver } = await begun();
    silence(a, b, c);
    await deliver();
    await deliver();
    expect([events, open.size]).toEqual([["trigger"], 1]);
    await end(a);
    await deliver();
    await end(b);
    await deliver();
    expect(open.size, "c still fires").toBe(1);
    await end(c);
    await deliver();
    expect([events, open.size]).toEqual([["trigger", "resolve"], 0]);
  });

  it("is continued, and resolved, by a group whose suppression ended", async () => {
    const { open, events, silence, end, deliver } = await begun();
    silence(a, b, c);
    await deliver();
    silence(b, c);
    await deliver();
    expect([events, open.size]).toEqual([["trigger", "trigger"], 1]);
    await end(a, b);
    await deliver();
    expect(open.size, "c still fires").toBe(1);
    await end(c);
    await deliver();
    expect([events.at(-1), open.size]).toEqual(["resolve", 0]);
  });
});
