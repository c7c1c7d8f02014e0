/** Fills the stored error budget of an SLO, as a daemon would in two days. */
import { Redis } from "ioredis";
import { addSample, type ErrorBudget } from "../../src/health/error-budget.ts";
import { keysUnder } from "../../src/store/keys.ts";
import type { LabelledBudget } from "../../src/store/store.ts";

/** Samples until a minute ago, so that the next one is added to them. `id`: as of the daemon, `shops` or `shops/acme`. */
export async function storeBudget(url: string, id: string, count: { good: number; bad: number }): Promise<void> {
  const last = Date.now() - 60_000;
  let budget: ErrorBudget | undefined;
  for (let at = last - 48 * 3_600_000; at <= last; at += 300_000) budget = addSample(budget, count, at);
  if (!budget) throw new Error("no samples");
  const [slo = id] = id.split("/");
  const row: LabelledBudget = { labels: { slo }, title: `SLO ${id}`, budget };
  const redis = new Redis(url);
  try {
    await redis.hset(keysUnder("lenswatch").slos, id, JSON.stringify(row));
  } finally {
    redis.disconnect();
  }
}
