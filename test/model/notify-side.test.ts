import { afterAll, beforeAll, expect, it } from "vitest";
import { Connections } from "../../bench/model/connections.ts";
import { openNotifySide } from "../../bench/model/notify-side.ts";
import { Refused } from "../../bench/model/senders.ts";
import { VirtualTime } from "../../bench/model/virtual-time.ts";
import { installVirtualTimers } from "../../bench/model/virtual-timers.ts";
import { parseConfig } from "../../src/config/load.ts";
import { ends, HOUR, MINUTE, firing as outage, SECOND, T0 } from "../store/fixtures.ts";
import { describeWithRedis, startTestRedis, type TestRedis } from "../support/redis.ts";

const text = `
service: { base_url: http://a.test, ws_url: ws://a.test, auth_url: http://a.test, client_id: a, client_secret: b, audience: c }
route: { receiver: ops, group_wait: 30s, repeat_interval: 4h }
receivers: [ { name: ops, slack_configs: [ { api_url: "http://a.test/1" }, { api_url: "http://a.test/2" } ] } ]`;

function configOf(yaml: string) {
  const parsed = parseConfig(yaml, { file: "model.yaml", env: {}, readSecret: () => "" });
  if ("config" in parsed) return parsed.config;
  throw new Error(JSON.stringify(parsed.problems));
}

describeWithRedis("the side that notifies, in virtual time", () => {
  let server: TestRedis;
  let connections: Connections;
  beforeAll(async () => {
    server = await startTestRedis();
    connections = new Connections(server.url);
  });
  afterAll(async () => {
    connections.close();
    await server.stop();
  });

  it("sends at the route's times, retries, reminds after hours and ends, in a moment", async () => {
    const time = new VirtualTime(T0, connections.quiet);
    const heard: [number, string, string][] = [];
    let refusals = 2;
    const side = await openNotifySide({
      config: configOf(text),
      connections,
      time,
      prefix: "side",
      send: async ({ id }, { reason }) => {
        if (id === "ops/slack/1" && refusals-- > 0) throw new Refused();
        heard.push([(time.now() - T0) / SECOND, id, reason]);
      },
    });
    const restore = installVirtualTimers(time, { leastIntervalMs: MINUTE });
    try {
      const { commit, store } = side;
      const alert = outage("cam", T0);
      const write = (now: number) => (changes: Parameters<typeof store.shards.commit>[0]["changes"]) =>
        store.shards.commit({ key: store.keys.shard(0), expected: nonce, document: "{}", now, changes });
      let nonce = "";
      const begun = await commit.evaluation([{ kind: "firing", alert }], write(T0));
      if (begun.outcome === "stored") nonce = begun.nonce;
      await time.runUntil(T0 + 5 * HOUR);
      const end = ends(alert, time.now()).alert;
      await commit.evaluation([{ kind: "resolved", alert: end }], write(time.now()));
      await time.runUntil(T0 + 6 * HOUR);
    } finally {
      restore();
      await side.close();
    }
    const wait = 30;
    expect(heard.filter(([, id]) => id === "ops/slack/0")).toEqual([
      [wait, "ops/slack/0", "first"],
      [wait + 4 * 3600, "ops/slack/0", "reminder"],
      [5 * 3600, "ops/slack/0", "resolved"],
    ]);
    const late = heard.filter(([, id]) => id === "ops/slack/1");
    expect(late.map(([, , reason]) => reason)).toEqual(["first", "reminder", "resolved"]);
    expect(late[0]?.[0]).toBeGreaterThan(30);
    expect(late[0]?.[0]).toBeLessThan(45);
  });
});
