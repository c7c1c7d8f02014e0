/** What a maintenance suppresses, and what is owed afterwards. */
import { expect, it } from "vitest";
import type { Maintenance } from "../../src/alerting/maintenance.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { createDeliver } from "../../src/deliver/deliver.ts";
import type { NotifyRefusal } from "../../src/deliver/retry-policy.ts";
import { createSuppression } from "../../src/deliver/suppression.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { rootRoute } from "../http/serve.ts";
import { committer, ends, fires, firing, HOUR, integration, MINUTE, T0, to, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const slack = integration("ops/slack/0");
const timers = { groupWaitMs: 0, groupIntervalMs: 5 * MINUTE, repeatIntervalMs: 30 * MINUTE };
const at = (group: string) => to(slack.id, group, timers);
/** T0 is 08:00 UTC. */
const window: Maintenance = {
  name: "stock-take",
  matchers: parseMatchers("location_id=1"),
  timeIntervals: [{ name: "morning", intervals: [{ times: [{ from: 540, to: 600 }], location: "UTC" }] }],
  comment: "",
};
const [BEGIN, END] = [T0 + HOUR, T0 + 2 * HOUR];

describeWithRedis("maintenance", () => {
  const testStore = useTestStore();

  function stage() {
    const { store } = testStore();
    const sent: string[] = [];
    const skipped: string[] = [];
    const state = { now: T0, maintenance: [window] as readonly Maintenance[] };
    const clock = { now: () => state.now };
    const { deliver } = createDeliver({
      clock,
      log: silentLogger,
      groups: { ...store.groups, pace: async () => 0 },
      senders: new Map([
        [
          slack.id,
          {
            integration: slack,
            send: async ({ reason, firing: all, resolved }) => {
              const names = [
                ...all.map(({ subject }) => `+${subject.id}`),
                ...resolved.map(({ subject }) => `-${subject.id}`),
              ];
              sent.push(`${reason} ${names.join(" ")}`);
            },
          },
        ],
      ]),
      externalUrl: undefined,
      stormMs: 0,
      suppressions: (claims) =>
        createSuppression({
          clock,
          store,
          route: rootRoute,
          inhibitRules: [],
          maintenance: state.maintenance,
        }).ofGroups(claims),
      toRefusal: (thrown) => thrown as NotifyRefusal,
      wake: async () => {},
      notified() {},
      failed() {},
      suppressed: (_, reason) => void skipped.push(reason),
    });
    return {
      state,
      skipped,
      commit: committer(testStore()),
      async sentAt(now: number) {
        state.now = now;
        for (let batch = 0; batch < 3; batch++) await deliver(slack.id);
        return sent.splice(0);
      },
    };
  }

  const camera = (id: string, firedAt: number) => firing(id, firedAt, { location_id: "1" });

  it("what still fires is notified when the window ends, to the millisecond; what ended meanwhile never is", async () => {
    const { commit, sentAt, skipped } = stage();
    const [brief, lasting] = [camera("brief", BEGIN), camera("lasting", BEGIN + MINUTE)];
    await commit(BEGIN, fires(brief, at("a")));
    await commit(BEGIN + MINUTE, fires(lasting, at("b")));
    expect(await sentAt(BEGIN + MINUTE)).toEqual([]);
    expect(new Set(skipped)).toEqual(new Set(["maintenance"]));
    await commit(BEGIN + 20 * MINUTE, ends(brief, BEGIN + 20 * MINUTE));
    expect(await sentAt(BEGIN + 30 * MINUTE)).toEqual([]);
    expect(await sentAt(END - 1)).toEqual([]);
    expect(await sentAt(END)).toEqual(["first +lasting"]);
  });

  it("what was notified before is not repeated inside, its end is sent, and reminders go on afterwards", async () => {
    const { commit, sentAt } = stage();
    const [one, two] = [camera("one", T0), camera("two", T0)];
    await commit(T0, fires(one, at("a")));
    await commit(T0, fires(two, at("b")));
    expect((await sentAt(T0)).sort()).toEqual(["first +one", "first +two"]);
    expect((await sentAt(T0 + 31 * MINUTE)).sort()).toEqual(["reminder +one", "reminder +two"]);
    expect(await sentAt(BEGIN + 30 * MINUTE)).toEqual([]);
    await commit(BEGIN + 40 * MINUTE, ends(two, BEGIN + 40 * MINUTE));
    expect(await sentAt(BEGIN + 41 * MINUTE)).toEqual(["resolved -two"]);
    expect(await sentAt(END - 1)).toEqual([]);
    expect(await sentAt(END)).toEqual(["reminder +one"]);
  });

  it("one that a reload takes away suppresses no longer, one that it adds does from then on", async () => {
    const { commit, sentAt, state } = stage();
    await commit(BEGIN, fires(camera("one", BEGIN), at("a")));
    expect(await sentAt(BEGIN)).toEqual([]);
    state.maintenance = [];
    expect(await sentAt(BEGIN + 5 * MINUTE)).toEqual(["first +one"]);
    state.maintenance = [window];
    expect(await sentAt(BEGIN + 40 * MINUTE)).toEqual([]);
    expect(await sentAt(END)).toEqual(["reminder +one"]);
  });
});
