/** Ends that nobody waits for, over the store's scripts: what another message covered, and what nobody was to hear of. */
import { expect, it } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { Alert } from "../../src/health/alert.ts";
import { configOf, DEFAULTS } from "../model/daemon.ts";
import { integration, MINUTE, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { Lab } from "./lab.ts";

const { inhibitRules } = configOf(DEFAULTS);
/** One after the other: sweeps of one shard never commit at once. */
async function eachOf<T, R>(all: readonly T[], change: (one: T) => Promise<R>): Promise<R[]> {
  const changed: R[] = [];
  for (const one of all) changed.push(await change(one));
  return changed;
}

const ops = integration("ops/slack/0");

describeWithRedis("an alert that inhibits others, and was notified", () => {
  const testStore = useTestStore();
  // The first is the control: its recordings end before it.
  it.each([-5, 5, 60])("is two messages, where the recordings it explains end %i s after its own end", async (gapS) => {
    const lab = new Lab(testStore(), [ops]);
    lab.inhibitRules = inhibitRules;
    const labels = { camera_server: "edge-7" };
    const server = await lab.fires("edge-7", "", {
      key: "CameraServerOffline/group/camera_server/edge-7",
      id: `CameraServerOffline/group/camera_server/edge-7@${lab.now}`,
      ruleId: "CameraServerOffline",
      labels: { alertname: "CameraServerOffline", ...labels },
      subject: { kind: "group", id: "camera_server/edge-7" },
      facts: { timezone: "UTC", problem: "camera_server_offline", offline: 10, of: 10 },
    });
    const recordings: Alert[] = [];
    for (let i = 0; i < 10; i++) recordings.push(await lab.fires(`r${i}`, `${i % 5}`, { labels }));
    await lab.until(20);
    const back = lab.now;
    const clear = (one: Alert) => lab.update(one, { clearing: true });
    const clearing = await eachOf([server, ...recordings], clear);
    await lab.until(25);
    const end = (some: Alert[]) => eachOf(some, (one) => lab.ends(one, back));
    const [first, second] = [clearing.slice(0, 1), clearing.slice(1)];
    await end(gapS < 0 ? second : first);
    await lab.until(25 + Math.abs(gapS) / 60);
    await end(gapS < 0 ? first : second);
    await lab.until(60);
    expect(lab.lines()).toHaveLength(2);
  });
});

/** From 08:00, when the lab begins, to 09:00 UTC. */
const window = { name: "stock-take", intervals: [{ times: [{ from: 0, to: 540 }], location: "UTC" }] };

describeWithRedis("an outage that was over before the decision to suppress it was", () => {
  const testStore = useTestStore();

  /** An outage of 08:05 to `overAt`, and `keep_firing_for: 5m`; suppressed until 09:00. */
  async function played(how: string, overAt: number): Promise<string[]> {
    const lab = new Lab(testStore(), [ops]);
    const planned = { matchers: parseMatchers("location_id=1"), timeIntervals: [window] };
    if (how === "a maintenance window") lab.maintenance = [{ name: "stock-take", ...planned, comment: "" }];
    if (how === "a mute time") lab.route = { ...lab.route, muteTimes: [window] };
    const id = how.startsWith("a silence")
      ? await lab.silence("location_id=1", how.includes("by hand") ? 600 : 60)
      : "";
    await lab.until(5);
    const fired = await lab.fires("a");
    if (how.startsWith("an acknowledgement")) await lab.ack(fired, how.includes("withdrawn") ? undefined : 55 * MINUTE);
    const release = async () => {
      if (how.includes("by hand")) await lab.unsilence(id);
      if (how.includes("withdrawn")) await lab.withdraw(fired);
    };
    await lab.until(Math.min(overAt, 60));
    if (overAt >= 60) await release();
    await lab.until(overAt);
    const alert = await lab.update(fired, { clearing: true });
    const back = lab.now;
    await lab.until(Math.max(overAt, 60));
    if (overAt < 60) await release();
    await lab.until(overAt + 5);
    await lab.ends(alert, back);
    await lab.until(90);
    return lab.lines();
  }

  const decisions = [
    "a maintenance window",
    "a mute time",
    "a silence",
    "a silence ended by hand",
    "an acknowledgement for a while",
    "an acknowledgement that is withdrawn",
  ];
  it.each(decisions)("is not notified of: %s", async (how) => {
    expect(await played(how, 58)).toEqual([]);
  });
  it.each(decisions)("is notified of where it outlasted it: %s", async (how) => {
    expect(await played(how, 61)).toEqual(["60 ops/slack first +a", "66 ops/slack resolved -a"]);
  });
});

describeWithRedis("an outage that an unreachable service inhibited", () => {
  const testStore = useTestStore();
  it("is notified of at its end, though it was over when the service was back: nobody was notified of it", async () => {
    const lab = new Lab(testStore(), [ops]);
    lab.inhibitRules = inhibitRules;
    const service = await lab.fires("service", "", {
      labels: { alertname: "ServiceUnreachable" },
      subject: { kind: "service", id: "service" },
    });
    const camera = await lab.fires("a");
    await lab.until(20);
    const clearing = await lab.update(camera, { clearing: true });
    const back = lab.now;
    await lab.ends(service);
    await lab.until(25);
    await lab.ends(clearing, back);
    await lab.until(60);
    expect(lab.lines().at(-1)).toMatch(/resolved ±a$/);
  });
});
