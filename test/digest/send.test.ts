import { expect, it } from "vitest";
import { parseConfig } from "../../src/config/load.ts";
import { createDigestJob } from "../../src/digest/send.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { renderHtml } from "../../src/notify/email/render.ts";
import { useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const configured = (period: string) => {
  const loaded = parseConfig(
    `
service: { base_url: "http://a", ws_url: "ws://a", auth_url: "http://a", client_id: x, client_secret: x, audience: x }
receivers: [ { name: ops, email_configs: [ { to: a@b } ] } ]
smtp: { host: h, from: a@b }
digests: [ { name: ops, to: [ a@b, c@d ], period: ${period}, timezone: UTC } ]
`,
    { file: "lenswatch.yaml", env: {}, readSecret: () => "" },
  );
  if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config;
};

describeWithRedis("a digest whose period is changed on the day when both end", () => {
  const testStore = useTestStore();

  it.each([
    ["1d", "1w", "2026-11-23T08:00:00Z"],
    ["1w", "1d", "2026-11-23T08:00:00Z"],
    ["1d", "1mo", "2026-12-01T08:00:00Z"],
    ["1w", "1mo", "2026-06-01T08:00:00Z"],
  ])("from %s to %s is sent for both, once to each recipient", async (before, after, day) => {
    const now = Date.parse(day);
    const letters: string[] = [];
    const ids = new Set<string>();
    const send = (period: string) =>
      createDigestJob({
        config: configured(period),
        store: testStore().store,
        clock: { now: () => now },
        log: silentLogger,
        fleet: async () => ({
          ...{ now, statusIntervalMs: 30_000, shards: [], shardNumbers: [], overallUptime: () => undefined },
          inventory: { recording: () => undefined, location: () => undefined },
        }),
        mail: {
          async send(letter) {
            letters.push(`${period} ${letter.to}`);
            ids.add(letter.messageId);
          },
        },
        byId: new Map(),
        renderHtml,
        isPassing: () => true,
      })("ops", now);
    for (const period of [before, before, after, after, before]) expect(await send(period)).toBe(true);
    const expected = [before, after].flatMap((period) => ["a@b", "c@d"].map((to) => `${period} ${to}`));
    expect(letters).toEqual(expected);
    expect(ids.size).toBe(4);
  });
});
