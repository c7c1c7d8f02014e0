import { randomInt } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Connections } from "../../bench/model/connections.ts";
import { failureText } from "../../bench/model/report.ts";
import { planRun, runModel } from "../../bench/model/run.ts";
import { describeWithRedis, startTestRedis, type TestRedis } from "../support/redis.ts";

/** On a busy machine no further run begins after this long. */
const MOST_MS = 3_000;
const FEWEST_RUNS = 2;
const FIXED = 8;

describeWithRedis("the model", () => {
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

  it("comes to what an empty store comes to, and every endpoint's last word is true", {
    timeout: 240_000,
  }, async () => {
    const began = performance.now();
    const fresh = randomInt(1_000_000, 1_000_000_000);
    const seeds = [fresh, ...Array.from({ length: FIXED }, (_, i) => i + 1)];
    for (const [i, seed] of seeds.entries()) {
      if (i >= FEWEST_RUNS && performance.now() - began > MOST_MS) break;
      const plan = planRun(seed, { short: true });
      const outcome = await runModel(plan, connections, `model-${seed}`);
      if (outcome.failures.length > 0) expect.fail(failureText(plan, outcome));
    }
  });
});
