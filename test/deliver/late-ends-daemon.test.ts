/** Ends of what one cause explained, by the daemon with its default configuration. */
import { expect, it } from "vitest";
import { DEFAULTS, useDaemon, worldOf } from "../model/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";

describeWithRedis("the default configuration", () => {
  const play = useDaemon();

  it("sends two messages of a camera server of five sites that is back over 60 s, the last first", async () => {
    const world = worldOf(7, 3, (site) => (site < 5 ? "edge-7" : `edge-own-${site}`));
    await play(world, DEFAULTS, async (daemon) => {
      await daemon.until(8);
      daemon.sent.length = 0;
      const dead = world.cameras.filter(({ server }) => server === "edge-7");
      daemon.set((camera) => dead.includes(camera), "offline");
      await daemon.until(18);
      const begun = daemon.sent.length;
      const back = dead.toReversed();
      for (const [i, camera] of back.entries()) {
        camera.status = "online";
        await daemon.until(18 + (i + 1) / back.length);
      }
      await daemon.until(35);
      expect([begun, daemon.sent.length - begun], daemon.titles().join("\n")).toEqual([1, 1]);
    });
  });
});

describeWithRedis("a power cut of 12 sites", () => {
  const play = useDaemon();
  it("is one message, and a few once they are back within 6 minutes of each other", async () => {
    const minutes = 6;
    const world = worldOf(14, 2, (site) => `edge-${site}`);
    await play(world, DEFAULTS, async (daemon) => {
      await daemon.until(8);
      daemon.sent.length = 0;
      const dead = world.cameras.slice(0, 24);
      daemon.set((camera) => dead.includes(camera), "offline");
      await daemon.until(15);
      expect(daemon.sent).toHaveLength(1);
      for (const [i, camera] of dead.entries()) {
        camera.status = "online";
        await daemon.until(15 + ((i + 1) / dead.length) * minutes);
      }
      await daemon.until(33);
      const [, ...ends] = daemon.sent;
      for (const title of daemon.titles())
        expect(title).toMatch(/\d+ recordings .*(?: at \d+ locations|· (?:\d+ locations|Site .*, Site ))/);
      expect(ends.length, daemon.titles().join("\n")).toBeLessThanOrEqual(Math.ceil(minutes / 5) + 1);
      const ended = ends.flatMap(({ n }) => n.resolved.map(({ id }) => id));
      expect(ended.sort()).toEqual(daemon.sent[0]?.n.firing.map(({ id }) => id).sort());
    });
  });
});
