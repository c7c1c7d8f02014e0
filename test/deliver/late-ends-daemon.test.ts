/** Ends of what one cause explained, by the daemon with its default configuration. */
import { expect, it } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { DEFAULTS, START, useDaemon, worldOf } from "../model/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";

describeWithRedis("the default configuration", () => {
  const play = useDaemon();

  it.each([
    [60, "in order"],
    [60, "in reverse"],
  ] as const)(
    "sends two messages of a camera server of five sites that is back over %i s, %s",
    async (spreadS, order) => {
      const world = worldOf(7, 3, (site) => (site < 5 ? "edge-7" : `edge-own-${site}`));
      await play(world, DEFAULTS, async (daemon) => {
        await daemon.until(8);
        daemon.sent.length = 0;
        const dead = world.cameras.filter(({ server }) => server === "edge-7");
        daemon.set((camera) => dead.includes(camera), "offline");
        await daemon.until(18);
        const begun = daemon.sent.length;
        const back = order === "in order" ? dead : dead.toReversed();
        for (const [i, camera] of back.entries()) {
          camera.status = "online";
          await daemon.until(18 + ((i + 1) / back.length) * (spreadS / 60));
        }
        await daemon.until(35);
        expect([begun, daemon.sent.length - begun], daemon.titles().join("\n")).toEqual([1, 1]);
      });
    },
  );
});

const PLANNED = `
time_intervals: [ { name: nine, time_intervals: [ { times: [ { start_time: "08:10", end_time: "08:40" } ], location: Europe/London } ] } ]
maintenance: [ { name: stock-take, matchers: [ 'location_id != ""' ], time_intervals: [ nine ], comment: Recorders are switched off. } ]`;
const by = { actor: { via: "token", name: "ana" } } as const;

describeWithRedis("outages that somebody decided to hear nothing of", () => {
  const play = useDaemon();
  const world = () => worldOf(5, 3, (site) => `edge-${site}`);

  it("are not sent where recorders are off from 08:12 to 08:38, in maintenance until 08:40", async () => {
    await play(world(), DEFAULTS + PLANNED, async (daemon) => {
      await daemon.until(12);
      daemon.sent.length = 0;
      daemon.set(() => true, "offline");
      await daemon.until(38);
      daemon.set(() => true, "online");
      await daemon.until(60);
      expect(daemon.titles()).toEqual([]);
    });
  });

  it("are not sent where a silence is ended once the recording is back", async () => {
    await play(world(), DEFAULTS, async (daemon) => {
      await daemon.until(8);
      daemon.sent.length = 0;
      const { changes } = daemon.process.setup().engine;
      const matchers = parseMatchers('location_id="site-0"');
      const wanted = { id: undefined, matchers, startsAt: undefined, endsAt: START + 6_000_000 };
      const set = await daemon.finish(
        changes.setSilence({ ...wanted, createdBy: "ana", comment: "ladder", annotations: {} }, by),
      );
      const isMeant = ({ id }: { readonly id: string }) => id === "site-0-cam-0";
      daemon.set(isMeant, "offline");
      await daemon.until(22);
      daemon.set(isMeant, "online");
      await daemon.until(24);
      await daemon.finish(changes.endSilence("id" in set ? set.id : "", by));
      await daemon.until(40);
      expect(daemon.titles()).toEqual([]);
    });
  });
});

describeWithRedis("a power cut of 15 sites", () => {
  const play = useDaemon();
  it("is one message, and a few once they are back within 6 minutes of each other", async () => {
    const minutes = 6;
    const world = worldOf(18, 3, (site) => `edge-${site}`);
    await play(world, DEFAULTS, async (daemon) => {
      await daemon.until(8);
      daemon.sent.length = 0;
      const dead = world.cameras.slice(0, 45);
      daemon.set((camera) => dead.includes(camera), "offline");
      await daemon.until(20);
      expect(daemon.sent).toHaveLength(1);
      for (const [i, camera] of dead.entries()) {
        camera.status = "online";
        await daemon.until(20 + ((i + 1) / dead.length) * minutes);
      }
      await daemon.until(45);
      const [, ...ends] = daemon.sent;
      for (const title of daemon.titles()) expect(title).toMatch(/\d+ recordings .*(?: at|·) \d+ locations/);
      expect(ends.length, daemon.titles().join("\n")).toBeLessThanOrEqual(Math.ceil(minutes / 5) + 1);
      const ended = ends.flatMap(({ n }) => n.resolved.map(({ id }) => id));
      expect(ended.sort()).toEqual(daemon.sent[0]?.n.firing.map(({ id }) => id).sort());
    });
  });
});
