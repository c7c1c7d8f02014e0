import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { pictured, prepareWatch } from "../support/app.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { seededRandom } from "../support/random.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const ROUNDS = 1;
const CAMERAS = 6;
const KILLS_WITHIN_MS = 1_500;

describeWithRedis("kill -9 at any moment", () => {
  it("loses no transition and repeats at most the message in flight, for e-mail and Slack separately", async () => {
    await using stage = await prepareWatch({
      simulator: { locations: CAMERAS, recordingsPerLocation: 1, seed: 3 },
      route: "{ receiver: ops, group_by: [location_id], group_wait: 0s, group_interval: 1s, repeat_interval: 4h }",
      receivers: `
  - name: ops
    email_configs: [ { to: [ ops@example.com ] } ]`,
    });
    const { mail, simulator } = stage;
    const random = seededRandom(20261120);
    let daemon: Daemon = await startDaemon(stage.config);
    await pictured(stage);
    let kills = 0;
    const killSoon = async () => {
      await sleep(random() * KILLS_WITHIN_MS);
      await daemon.end("SIGKILL");
      kills++;
      daemon = await startDaemon(stage.config);
    };
    /** Of each message about the location that says another thing than the one before it, whether it is an end. */
    const turnsAt = (name: string) => {
      const order = mail.messages.filter(({ subject }) => subject.includes(name));
      const ends = order.map(({ subject }) => subject.startsWith("✅"));
      return ends.filter((ended, i) => ended !== ends[i - 1]);
    };
    const places = simulator.world.recordings.map(({ location }) => location.name);

    for (let round = 1; round <= ROUNDS; round++) {
      for (const status of ["offline", "online"] as const) {
        for (const { id } of simulator.world.recordings) simulator.world.setStatus(id, status);
        await killSoon();
        const turns = 2 * round - (status === "offline" ? 1 : 0);
        await until(
          `round ${round}: all told ${status}`,
          () => places.every((name) => turnsAt(name).length >= turns),
          60_000,
        );
      }
    }
    expect(await daemon.end("SIGTERM")).toBe(0);
    const most = 2 * ROUNDS * CAMERAS;
    expect(mail.messages.length).toBeGreaterThanOrEqual(most);
    expect(mail.messages.length).toBeLessThanOrEqual(most + kills);
    const turns = Array.from({ length: 2 * ROUNDS }, (_, i) => i % 2 === 1);
    for (const name of places) expect(turnsAt(name), name).toEqual(turns);
  });
});
