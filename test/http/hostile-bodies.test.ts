/** What somebody with the admin's token, or without it, may send: each body is taken or refused with a 4xx. */
import { describe, expect, test } from "vitest";
import { acceptAlerts } from "../../src/alerting/external-alerts.ts";
import { NOW } from "../metrics/fleets.ts";
import { bloated, diceOf, misspelt, mutateBytes, mutateJson } from "../support/mutate.ts";
import { signedIn } from "./page/visitor.ts";
import { ackDone, serve } from "./serve.ts";
import { holdsInMemory } from "./silences.ts";

const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_123);

const time = (ms: number) => new Date(NOW + ms).toISOString();

const honest: Readonly<Record<string, unknown>> = {
  "/api/v2/alerts": [
    {
      labels: { alertname: "DiskFull", instance: "db-1", severity: "critical" },
      annotations: { summary: "It is full." },
      startsAt: time(-60_000),
      endsAt: time(60_000),
      generatorURL: "https://prometheus.example.com/graph",
    },
    { labels: { alertname: "Other" } },
  ],
  "/api/v2/silences": {
    matchers: [{ name: "location", value: "Leeds|York", isRegex: true, isEqual: true }],
    startsAt: time(0),
    endsAt: time(3_600_000),
    createdBy: "dana",
    comment: "rewiring",
  },
  "/api/v1/alerts/0123456789abcdef/ack": { author: "dana", comment: "on it", for: "2h" },
};

async function startServer() {
  let external: Parameters<typeof acceptAlerts>[0] = new Map();
  const { deps } = holdsInMemory({ now: () => NOW });
  return serve({
    ...deps,
    adminToken: "boss",
    acknowledge: async () => ackDone,
    acceptAlerts: async (sent) => {
      const { next, refused } = acceptAlerts(external, sent, { now: NOW, most: 2_000, characters: 1e7 });
      external = next;
      return { outcome: "taken", refused, most: 2_000 };
    },
  });
}

const FINE = new Set([200, 400, 404, 413, 415]);

describe(`bodies that mean harm (seed ${SEED})`, () => {
  test.each(Object.keys(honest))("%s takes or refuses hundreds of them, and says why", async (path) => {
    const { address } = await startServer();
    const counts = new Map<number, number>();
    const send = async (nth: number) => {
      const dice = diceOf(SEED + nth);
      const value = honest[path];
      const body =
        nth % 100 === 0
          ? bloated(value, dice)
          : dice.pick([
              () => JSON.stringify(mutateJson(value, dice)) ?? "",
              () => JSON.stringify(mutateJson(value, dice)) ?? "",
              () => misspelt(value, dice),
              () => mutateBytes(Buffer.from(JSON.stringify(value)), dice),
            ])();
      const response = await fetch(address + path, {
        method: "POST",
        headers: {
          authorization: "Bearer boss",
          "content-type": dice.pick([...Array<string>(9).fill("application/json"), "text/plain"]),
        },
        body,
      });
      const said = await response.text();
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
      const isExplained = response.status === 200 || JSON.parse(said) !== "";
      expect({ nth, status: response.status, isFine: FINE.has(response.status) && isExplained }).toMatchObject({
        isFine: true,
      });
    };
    for (let from = 0; from < 220; from += 20) await Promise.all(Array.from({ length: 20 }, (_, i) => send(from + i)));
    for (const status of [200, 400]) expect(counts.get(status) ?? 0, String(status)).toBeGreaterThan(4);
  });

  test("forms of the page take or refuse dozens of them with a page", async () => {
    const { address } = await startServer();
    const visitor = await signedIn(address, "boss");
    const fields = { matchers: 'location="Leeds"', comment: "x", lasting: "1h" };
    for (let nth = 0; nth < 60; nth++) {
      const changed = mutateJson(fields, diceOf(SEED + nth));
      const given = Object.entries(Object(changed) as object).map(([name, value]) => [
        name,
        String(JSON.stringify(value)),
      ]);
      const response = await visitor.post("/silences/new", Object.fromEntries(given), {
        from: "/silences/new?matchers=location%3DLeeds",
      });
      expect({ nth, isFine: [200, 303, 400].includes(response.status) }).toEqual({ nth, isFine: true });
    }
  });
});
