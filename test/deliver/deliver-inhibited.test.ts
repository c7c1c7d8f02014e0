/** Recordings whose location or camera server begins to explain their alerts, while they wait or once they were notified. */
import { expect, it } from "vitest";
import type { InhibitRule } from "../../src/alerting/inhibit.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { Notification } from "../../src/alerting/model.ts";
import { createDeliver } from "../../src/deliver/deliver.ts";
import type { NotifyRefusal } from "../../src/deliver/retry-policy.ts";
import { createSuppression } from "../../src/deliver/suppression.ts";
import type { Alert } from "../../src/health/alert.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { configOf, receivers, service } from "../config/text.ts";
import { rootRoute } from "../http/serve.ts";
import {
  committer,
  ends,
  fires,
  firing,
  HOUR,
  integration,
  MINUTE,
  SECOND,
  T0,
  type TestStore,
  to,
  useTestStore,
} from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const PACE = 20;
const slack = integration("ops/slack/0");
const WAITS = ["before it is claimed", "after it is claimed"] as const;
type Waits = (typeof WAITS)[number];
const at = (group: string) => to(slack.id, group, { groupWaitMs: 0, groupIntervalMs: SECOND });

const camera = firing("cam", T0, { location_id: "1", recording: "Till" });
const shop = firing("shop", T0 + 5, { alertname: "LocationOffline", location_id: "1" });
const inhibitRules = [
  {
    sourceMatchers: parseMatchers("alertname=LocationOffline"),
    targetMatchers: parseMatchers("alertname=RecordingOffline"),
    equal: ["location_id"],
  },
];

/** Delivers from T0; at its first turn the endpoint was used a moment ago, and `meanwhile` happens. */
function stage(
  { store }: TestStore,
  waits?: Waits,
  {
    meanwhile = async () => {},
    claimed = async () => {},
    rules = inhibitRules,
  }: { meanwhile?: () => Promise<void>; claimed?: (claim: object) => Promise<void>; rules?: InhibitRule[] } = {},
) {
  const { groups } = store;
  const clock = { at: T0, now: () => clock.at };
  const sent: string[] = [];
  const suppressions = createSuppression({ clock, store, route: rootRoute, inhibitRules: rules });
  let waited = false;
  async function wait<T>(reply: T): Promise<T> {
    if (!waited) await meanwhile();
    waited = true;
    clock.at += 2 * PACE;
    return reply;
  }
  const { deliver } = createDeliver({
    clock,
    log: silentLogger,
    groups: {
      ...groups,
      claim: async (...args) =>
        waits === "before it is claimed" && !waited
          ? wait({ kind: "pace", until: clock.at + PACE } as const)
          : groups.claim(...args).then(async (claim) => {
              await claimed(claim);
              return claim;
            }),
      pace: async () => (waits === "after it is claimed" && !waited ? wait(PACE) : 0),
    },
    senders: new Map([[slack.id, { integration: slack, send: async (n) => void sent.push(contentOf(n)) }]]),
    externalUrl: undefined,
    stormMs: 0,
    suppressions: (claims) => suppressions.ofGroups(claims),
    toRefusal: (thrown) => thrown as NotifyRefusal,
    wake: async () => {},
    notified() {},
    failed() {},
    suppressed() {},
  });
  return {
    sent,
    async deliver(passMs = 0) {
      clock.at += passMs;
      for (let batch = 0; batch < 4; batch++) {
        await deliver(slack.id);
        clock.at += 2 * SECOND;
      }
    },
  };
}

describeWithRedis("a recording that waits for pace while its location goes offline", () => {
  const testStore = useTestStore();

  it.each(WAITS)("%s: is not told while that fires, nor afterwards: its location spoke for it", async (waits) => {
    const commit = committer(testStore());
    const meanwhile = async () => void (await commit(T0 + 5, fires(shop, at("shop"))));
    const run = stage(testStore(), waits, { meanwhile });
    await commit(T0, fires(camera, at("cam")));
    await run.deliver();
    expect(run.sent).toEqual(["+shop for 1"]);
    await commit(T0 + 60 * SECOND, ends(camera, T0 + 60 * SECOND));
    await run.deliver(HOUR);
    await commit(T0 + HOUR, ends(shop, T0 + HOUR));
    await run.deliver(HOUR);
    expect(run.sent).toEqual(["+shop for 1", "-shop"]);
  });

  it.each(WAITS)(
    "%s: is told once, as what was, where both were over before its turn came: nobody has heard of it",
    async (waits) => {
      const commit = committer(testStore());
      const meanwhile = async () => {
        await commit(T0 + 5, fires(shop, at("shop")));
        await commit(T0 + 20, ends(camera, T0 + 20), ends(shop, T0 + 20));
      };
      const run = stage(testStore(), waits, { meanwhile });
      await commit(T0, fires(camera, at("cam")));
      await run.deliver();
      await run.deliver(HOUR);
      expect(run.sent.sort()).toEqual(["-cam late", "-shop late"]);
    },
  );
});

describeWithRedis("a recording that is over with its location while it is decided again", () => {
  const testStore = useTestStore();

  it("is not told as firing: what had inhibited it was over at the same moment", async () => {
    const commit = committer(testStore());
    let over = false;
    const claimed = async (claim: object) => {
      if (over || !run.sent.length || !("group" in claim) || claim.group !== "cam") return;
      over = true;
      await commit(T0 + SECOND, ends(camera, T0 + SECOND), ends(shop, T0 + SECOND));
    };
    const run = stage(testStore(), undefined, { claimed });
    await commit(T0, fires(camera, at("cam")), fires(shop, at("shop")));
    await run.deliver();
    await run.deliver(HOUR);
    expect(over).toBe(true);
    expect(run.sent).toEqual(["+shop for 1", "-shop"]);
  });
});

describeWithRedis("recordings of a camera server that goes offline", () => {
  const testStore = useTestStore();
  const rules = [...configOf(service + receivers).inhibitRules];
  const on = (name: string) => firing(name, T0, { location_id: name, camera_server: "s1" });
  const [a, b, c, late] = [on("a"), on("b"), on("c"), on("late")];
  const server: Alert = {
    ...firing("server", T0, { alertname: "CameraServerOffline", camera_server: "s1" }),
    subject: { kind: "group", id: "camera_server/s1" },
  };

  it("are one more message when it begins after theirs, and what is offline when it ends is notified once", async () => {
    const commit = committer(testStore());
    const run = stage(testStore(), undefined, { rules });
    await commit(T0, ...[a, b, c].map((alert) => fires(alert, at(alert.subject.id))));
    await run.deliver();
    expect(run.sent.splice(0).sort()).toEqual(["+a", "+b", "+c"]);
    await commit(T0 + 60 * SECOND, fires(server, at("server")), fires(late, at("late")));
    await run.deliver(60 * SECOND);
    expect(run.sent.splice(0)).toEqual(["+camera_server/s1 for 4"]);
    await run.deliver(HOUR);
    expect(run.sent.splice(0), "theirs neither end nor are they repeated").toEqual([]);
    await commit(T0 + 2 * HOUR, ends(a, T0 + 2 * HOUR), ends(server, T0 + 2 * HOUR));
    await run.deliver(HOUR);
    await run.deliver(MINUTE);
    expect(run.sent.splice(0).sort()).toEqual(["+late", "-a", "-camera_server/s1"]);
    await commit(T0 + 3 * HOUR, ...[b, c, late].map((alert) => ends(alert, T0 + 3 * HOUR)));
    await run.deliver(HOUR);
    expect(run.sent.sort()).toEqual(["-b", "-c", "-late"]);
  });
});

function contentOf({ firing: fire, resolved }: Notification): string {
  const nameOf = (alert: Alert) => alert.subject.id;
  return [
    ...fire.map((alert) => `+${nameOf(alert)}${alert.standsFor ? ` for ${alert.standsFor.recordings}` : ""}`),
    ...resolved.map((alert) => `-${nameOf(alert)}${alert.isNew ? " late" : ""}`),
  ].join(" ");
}
