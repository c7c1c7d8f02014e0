/** Alerts about the service and about notifications are never in a message about recordings, in a storm or not. */
import { expect, it } from "vitest";
import type { Alert } from "../../src/health/alert.ts";
import { integration, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { Lab } from "./lab.ts";

const ops = integration("ops/slack/0");
const unreachable: Omit<Partial<Alert>, "labels"> & { labels: Record<string, string> } = {
  key: "ServiceUnreachable/service/analytics",
  id: "ServiceUnreachable/service/analytics@0",
  subject: { kind: "service", id: "analytics" },
  labels: { alertname: "ServiceUnreachable", severity: "critical" },
  facts: { timezone: "UTC", problem: "service_unreachable" },
};

describeWithRedis("the service's alert", () => {
  const testStore = useTestStore();

  it.each([
    ["group_by: []", { groupBy: [] }, 2],
    ["a storm", { stormGroups: 2 }, 5],
    ["a storm of one group", { groupBy: [], stormGroups: 1 }, 2],
  ] as const)("has a message of its own, with %s", async (_, more, cameras) => {
    const lab = new Lab(testStore(), [ops]);
    lab.route = { ...lab.route, ...more };
    const fired = [];
    for (let i = 0; i < cameras; i++) fired.push(await lab.fires(`cam-${i}`, `site-${i}`));
    const service = await lab.fires("service", "", unreachable);
    await lab.until(2);
    await lab.ends(service);
    for (const one of fired.slice(1)) await lab.ends(one);
    await lab.until(10);
    const isMixed = ({ n }: (typeof lab.log)[number]) =>
      new Set([...n.firing, ...n.resolved].map(({ subject }) => subject.kind)).size > 1;
    expect(lab.log.filter(isMixed).map((one) => lab.line(one))).toEqual([]);
    expect(lab.titles()).toContain("Analytics service unreachable");
    expect(lab.titles()).toContain("Analytics service recovered — after 2 m");
  });
});
