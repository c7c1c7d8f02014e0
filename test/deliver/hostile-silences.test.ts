/** Silences and external alerts that are within their limits, and cost the most together, keep nothing from being sent. */
import { expect, it } from "vitest";
import { patternCost } from "../../src/alerting/pattern.ts";
import { integration, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { Lab } from "./lab.ts";

const SILENCES = 10;
const ALERTS = 1_000;
const ops = integration("ops/slack/0");

/** As large as a tenth of what all silences may have. */
function hostilePattern(nth: number): string {
  const wordsOf = (count: number) => Array.from({ length: count }, (_, i) => `.*${nth}a${i % 10}`).join("|");
  let count = 1;
  while (patternCost(`(?:${wordsOf(count + 1)})`) <= 100) count++;
  return `(?:${wordsOf(count)})`;
}

describeWithRedis("ten recordings that go offline beside hostile silences and external alerts", () => {
  const testStore = useTestStore();
  it("are notified, and the silences can be expired: alerts in one group, in the recordings', and in their own", async () => {
    const locationOf = (i: number) => (i % 3 === 0 ? "nowhere" : i % 3 === 1 ? `nowhere-${i}` : `shop-${i % 10}`);
    const lab = new Lab(testStore(), [ops]);
    lab.route = { ...lab.route, stormGroups: 10 };
    const silences: string[] = [];
    for (let i = 0; i < SILENCES; i++) silences.push(await lab.silence(`x=~"${hostilePattern(i)}"`, 60));
    await expect(lab.silence(`x=~"${hostilePattern(10)}"`, 60)).rejects.toThrow(/too large together/);
    for (let i = 0; i < ALERTS; i++) {
      const subject = { kind: "external", id: `${i}` } as const;
      const labels = { alertname: "X", x: `${i}`.padEnd(1_000, "a") };
      await lab.fires(`x${i}`, locationOf(i), { id: `external/X/${i}@${lab.now}`, subject, labels });
    }
    for (let i = 0; i < 10; i++) await lab.fires(`camera-${i}`, `shop-${i}`);
    lab.now += 60_000;
    const delivering = lab.deliver(ops.id);
    const notified = () => new Set(lab.log.flatMap(({ n }) => n.firing.map(({ key }) => key)));
    const isNotified = () => Array.from({ length: 10 }, (_, i) => `camera-${i}`);
    await until("the recordings are notified", () => isNotified().every((key) => notified().has(key)), 60_000);
    for (const id of silences) await lab.unsilence(id);
    await delivering;
    expect((await lab.store.silences.read(lab.now)).filter(({ endsAt }) => endsAt > lab.now)).toEqual([]);
  });
});
