import { expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { startWatch } from "../support/app.ts";
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
  ["the socket is half-open", (f) => f.set("half_open")],
  [
    "the token is refused",
    (f) => {
      f.set("token_refused", {});
      f.set("unauthorized", {});
      f.set("drop_sockets", {});
    },
  ],
  ["every frame is garbage", (f) => f.set("garbage_frames", {})],
  ["every frame holds broken JSON", (f) => f.set("garbage_frames", { kind: "bad_json" })],
  ["no reply ever comes", (f) => f.set("no_reply", {})],
  ["every reply is an error", (f) => f.set("error_payload", { endpoint: "status/uptime" })],
  ["a part of every reply is lost", (f) => f.set("multi_part", { lose_last: true })],
];

describeWithRedis("an unreachable service is no outage of recordings", () => {
  it.concurrent.each(BLINDING)(
    "nothing fires and nothing resolves falsely while %s",
    async (cause, begin, health = "calls itself healthy") => {
      await using watch = await startWatch();
      const { simulator, slack } = watch;
      const [dark, bright] = simulator.world.recordings;
      if (!dark || !bright) throw new Error("no cameras");
      simulator.world.setStatus(dark.id, "offline");
      await slack.next();

      begin(simulator.faults);
      const unreachable = await slack.next();
      expect(unreachable.text).toMatch(/unreachable/i);
      expect(unreachable.shown).toContain(health);
      // The advice is that of the cause, whatever else is known.
      expect(/credential|client_id|audience/.test(unreachable.shown)).toBe(cause === "the token is refused");
      expect(unreachable.shown).not.toContain("ws_url");
      expect(slack.messages).toHaveLength(2);

      let sweeps = 0;
      simulator.events.on("request", ({ endpoint, outcome }) => {
        if (endpoint === "status/uptime" && outcome === "answered") sweeps++;
      });
      simulator.faults.clearAll();
      expect((await slack.next()).shown).toMatch(/recovered|again/i);
      expect(slack.messages).toHaveLength(3);
      expect(sweeps).toBeGreaterThan(0);
      // One a second: on a busy machine the message takes its time.
      expect(sweeps).toBeLessThan(60);

      simulator.world.setStatus(bright.id, "offline");
      expect((await slack.next()).shown).toContain(bright.name);
      simulator.world.setStatus(dark.id, "online");
      expect((await slack.next()).shown).toContain(dark.name);
      expect(slack.messages).toHaveLength(5);
    },
  );

  it.concurrent("the health check is asked at every interval, and its gauge follows", async () => {
    await using watch = await startWatch();
    const { simulator, app } = watch;
    const gauge = async (value: number) => {
      const text = await (await fetch(`${app.address}/metrics`)).text();
      return text.includes(`lenswatch_service_up{endpoint="status"} ${value}`);
    };
    await until("healthy", () => gauge(1));
    for (const status of [503, 404]) {
      simulator.faults.set("http_error", { status, endpoint: "status" });
      await until(`unhealthy with ${status}`, () => gauge(0));
      simulator.faults.clear("http_error");
      await until("healthy again", () => gauge(1));
    }
  });

  it.concurrent("a service that hangs for three intervals is reported, and lenswatch stays ready", async () => {
    await using watch = await startWatch({ requestTimeout: "5s" });
    const { simulator, slack, app } = watch;
    const ready = async () => (await fetch(`${app.address}/readyz`)).status;
    await until("ready", async () => (await ready()) === 200);
    simulator.faults.set("no_reply", {});
    const answers = new Set<number>();
    const notified = slack.next();
    let waiting = true;
    void notified.finally(() => {
      waiting = false;
    });
    await until("told", async () => {
      answers.add(await ready());
      return !waiting;
    });
    expect((await notified).text).toContain("Analytics service unreachable");
    expect([...answers]).toEqual([200]);
  });

  it.concurrent("one invalid row loses the reading of its recording only", async () => {
    await using watch = await startWatch({ simulator: { locations: 1, recordingsPerLocation: 3 } });
    const { simulator, slack } = watch;
    const [bad, good] = simulator.world.recordings;
    if (!bad || !good) throw new Error("no cameras");
    simulator.faults.set("wrong_types", { recordings: [bad.id], field: "status" });
    simulator.world.setStatus(bad.id, "offline");
    simulator.world.setStatus(good.id, "offline");
    expect((await slack.next()).shown).toContain(good.name);
    expect(slack.messages[0]?.shown).not.toContain(bad.name);
    simulator.faults.clearAll();
    expect((await slack.next()).shown).toContain(bad.name);
  });

  it.concurrent("a recording without a good reading for three intervals leaves the exposition and counts as unknown", async () => {
    await using watch = await startWatch();
    const { simulator, app } = watch;
    const metrics = async () => (await fetch(`${app.address}/metrics`)).text();
    await until("all are online", async () => (await metrics()).includes('lenswatch_recordings{status="online"} 8'));
    simulator.faults.set("half_open");
    await until("all are unknown", async () => (await metrics()).includes('lenswatch_recordings{status="unknown"} 8'));
    expect(await metrics()).not.toMatch(/^lenswatch_recording_online\{/m);
    expect((await fetch(`${app.address}/healthz`)).status).toBe(200);
  });
});
