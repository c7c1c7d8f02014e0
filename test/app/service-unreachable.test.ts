import { expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { camerasOf, metricsOf, startWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

type Faults = Simulator["faults"];

/** What is set, and what the alert says of the service's own health check. */
const BLINDING: [string, (faults: Faults) => void, string?][] = [
  [
    "the service answers 503 and drops its sockets",
    (f) => {
      f.set("http_error", { status: 503 });
      f.set("drop_sockets", {});
    },
    "health check fails too",
  ],
  ["a part of every reply is lost", (f) => f.set("multi_part", { lose_last: true })],
];

const RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
  - alert: ServiceUnreachable
    when: { service: unreachable }
    for: 1s`;

describeWithRedis("an unreachable service is no outage of recordings", () => {
  it.concurrent.each(BLINDING)(
    "nothing fires and nothing resolves falsely while %s",
    async (_, begin, health = "calls itself healthy") => {
      await using watch = await startWatch({ rules: RULES });
      const { simulator, slack, app } = watch;
      const metrics = () => metricsOf(app);
      const [dark, bright] = camerasOf(watch);
      simulator.world.setStatus(dark.id, "offline");
      await slack.next();
      begin(simulator.faults);
      const unreachable = await slack.next();
      expect(unreachable.text).toMatch(/unreachable/i);
      expect(unreachable.shown).toContain(health);
      expect(unreachable.shown).not.toMatch(/credential|client_id|audience|ws_url/);
      const isHealthy = Number(health === "calls itself healthy");
      expect(await metrics()).toContain(`lenswatch_service_up{endpoint="status"} ${isHealthy}`);
      await until("no reading is good any more", async () => !/^lenswatch_recording_online\{/m.test(await metrics()));
      expect(await metrics()).toContain('lenswatch_recordings{status="unknown"} 8');
      expect(slack.messages).toHaveLength(2);
      simulator.faults.clearAll();
      expect((await slack.next()).shown).toMatch(/recovered|again/i);
      expect(slack.messages).toHaveLength(3);
      simulator.world.setStatus(bright.id, "offline");
      expect((await slack.next()).shown).toContain(bright.name);
      for (const { id, name } of [dark, bright]) {
        simulator.world.setStatus(id, "online");
        expect((await slack.next()).shown).toContain(name);
      }
      expect(slack.messages).toHaveLength(6);
    },
  );
});
