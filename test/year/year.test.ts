/** A year played in short: what is skipped changes nothing, and the comparison finds what is wrong. */
import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadMix, type Mix, parseMix } from "../../bench/year/mix.ts";
import type { SentMessage } from "../../bench/year/notify-side.ts";
import { lineOf } from "../../bench/year/report.ts";
import { exampleConfig, loadPlayed, runYear } from "../../bench/year/run.ts";
import { ConfigError } from "../../src/config/problem.ts";
import { describeWithRedis, startTestRedis, type TestRedis } from "../support/redis.ts";

/** So much that a few days have some of everything. */
const BUSY = parseMix(
  `
locations_per_request: 2
fleet: { recordings_per_site: 1 to 5, sites_per_region: 3 to 5 }
router_restarts: { rate: 60 }
power_cuts: { rate: 30, lasts: 5m to 3h }
night_maintenance: { rate: 30 }
camera_failures: { rate: 8 }
camera_dropouts: { rate: 60 }
flapping_cables: { rate: 5, lasts: 1h to 6h }
reboot_loops: { rate: 5, lasts: 1h to 4h }
degraded_phases: { rate: 15 }
low_quality: { rate: 8 }
lossy_uploads: { rate: 5 }
missing_rows: { rate: 8 }
server_outages: { rate: 20 }
region_outages: { rate: 20 }
service_outages: { rate: 120 }
service_partly: { rate: 120 }
`,
  "busy.yaml",
);
describe("the mix of a year", () => {
  it("has every key with its default in bench/year/mix.yaml", () => {
    const file = new URL("../../bench/year/mix.yaml", import.meta.url).pathname;
    expect(loadMix(file)).toEqual(parseMix("{}", "empty"));
    expect(readFileSync(file, "utf8")).toContain("service_partly:");
  });

  it("names the line of what is wrong", () => {
    const read = () => parseMix("fleet:\n  late: 1m to 0s\npower_cut: {}\n", "mix.yaml");
    expect(read).toThrow(ConfigError);
    try {
      read();
    } catch (thrown) {
      const { problems } = thrown as ConfigError;
      expect(problems.map(({ line, path }) => `${line} ${path}`)).toEqual(["2 fleet.late", "3 power_cut"]);
    }
  });
});

describeWithRedis("a year", () => {
  let server: TestRedis;
  const connections: Redis[] = [];
  beforeAll(async () => {
    server = await startTestRedis();
  });
  afterAll(async () => {
    for (const connection of connections) connection.disconnect();
    await server.stop();
  });

  async function play(
    seed: number,
    options: { days: number; recordings?: number; mix?: Mix; everyInterval?: boolean },
  ) {
    const config = await loadPlayed(exampleConfig);
    const redis = new Redis(server.url);
    connections.push(redis);
    await redis.flushall();
    return runYear({ redis, config, mix: BUSY, recordings: 10, seed, ...options });
  }

  it("sends the same messages where steady sweeps are skipped", async () => {
    const skipping = await play(3, { days: 2 });
    const complete = await play(3, { days: 2, everyInterval: true });
    expect(skipping.messages.length).toBeGreaterThan(5);
    expect(skipping.messages.map(lineOf).sort()).toEqual(complete.messages.map(lineOf).sort());
  });

  it("notices every time at which some shards fail", async () => {
    const mix = parseMix("locations_per_request: 1\nservice_partly: { rate: 800, lasts: 30m to 1h }\n", "partly.yaml");
    const { accountsOf, expectations, messages } = await play(1, { days: 5, mix });
    expect(expectations.filter(({ incident }) => incident.kind === "servicePartly").length).toBeGreaterThan(4);
    expect(accountsOf(messages).flatMap(({ missed }) => missed)).toEqual([]);
  });

  it("is the same for the same seed, another for another", async () => {
    const [one, again, other] = [await play(3, { days: 2 }), await play(3, { days: 2 }), await play(4, { days: 2 })];
    expect(again.messages).toEqual(one.messages);
    expect(other.messages).not.toEqual(one.messages);
  });

  it("misses nothing and makes nothing up", async () => {
    const { accountsOf, messages } = await play(5, { days: 14, recordings: 40, mix: parseMix("{}", "default") });
    for (const account of accountsOf(messages)) {
      expect(account.missed).toEqual([]);
      expect(account.unfounded).toEqual([]);
      expect(account.offHours).toEqual([]);
    }
  });

  it("finds a message that is missing, and one that nothing explains", async () => {
    const { accountsOf, messages } = await play(6, { days: 4 });
    expect(accountsOf(messages)[0]?.missed).toEqual([]);
    const notified = messages.flatMap(({ firing }) => firing).find(({ alertname }) => alertname === "LocationOffline");
    const isThere = ({ locationId }: { locationId: string | undefined }) => locationId === notified?.locationId;
    const without = messages.filter(({ firing, resolved }) => ![...firing, ...resolved].some(isThere));
    const missed = accountsOf(without)[0]?.missed ?? [];
    expect(missed).not.toEqual([]);
    for (const { effects } of missed) expect(effects.map(({ recording }) => recording).some(isThere)).toBe(true);

    const [first] = messages;
    const invented = {
      ...(first as SentMessage),
      at: (first as SentMessage).at + 1,
      firing: [alertOfNothing(first)],
      resolved: [],
    };
    expect(accountsOf([...messages, invented])[0]?.unfounded.map(({ message }) => message)).toContain(invented);
  });
});

function alertOfNothing(message: SentMessage | undefined): SentMessage["firing"][number] {
  const at = (message?.at ?? 0) - 400 * 86_400_000;
  const subject = { kind: "recording", id: "site-0-camera-0" } as const;
  return {
    id: "x",
    key: "x",
    subject,
    startsAt: at,
    firedAt: at,
    endsAt: undefined,
    isNew: true,
    alertname: "RecordingOffline",
    locationId: "site-0",
  };
}
