import fc from "fast-check";
import { expect, test } from "vitest";
import type { ShardState } from "../../src/health/shard-state.ts";
import { missingRule, offlineRule, reading, Story } from "./shard-history.ts";

const IDS = ["a", "b", "c", "d", "e"];
const RULES = [offlineRule(), missingRule()];

const unordered = (state: ShardState) => ({ ...state, recordings: new Map(state.recordings) });

const sweep = fc.tuple(
  fc.shuffledSubarray(IDS),
  fc.array(fc.constantFrom(...IDS), { maxLength: 3 }),
  fc.array(fc.constantFrom("online" as const, "offline" as const), { minLength: 5, maxLength: 5 }),
);

test("rows may come in any order, and twice: each recording is judged once, by its first row", () => {
  fc.assert(
    fc.property(fc.array(sweep, { minLength: 2, maxLength: 5 }), (sweeps) => {
      const asTheyCome = new Story(...RULES);
      const inOrder = new Story(...RULES);
      for (const [present, again, statuses] of sweeps) {
        const rows = present.map((id) => reading(id, statuses[IDS.indexOf(id)] ?? "online"));
        const repeated = again.filter((id) => present.includes(id)).map((id) => reading(id, "degraded"));
        const sorted = rows.toSorted((a, b) => a.recordingId.localeCompare(b.recordingId));
        asTheyCome.pass(1_000).judge({ readings: [...rows, ...repeated], unreadable: [], unidentified: 0 });
        inOrder.pass(1_000).judge({ readings: sorted, unreadable: [], unidentified: 0 });
        expect(unordered(asTheyCome.state)).toEqual(unordered(inOrder.state));
        expect(asTheyCome.last.transitions.map(({ kind, alert }) => `${kind} ${alert.key}`).sort()).toEqual(
          inOrder.last.transitions.map(({ kind, alert }) => `${kind} ${alert.key}`).sort(),
        );
      }
    }),
  );
});

test("a row that comes twice, first where it stood last time and then out of order, counts once", () => {
  const story = new Story(...RULES);
  story.sweep({ a: "online", b: "online", c: "online" });
  const rows = [reading("c", "online"), reading("a", "offline"), reading("b", "online"), reading("c", "offline")];
  story.pass(1_000).judge({ readings: rows, unreadable: [], unidentified: 0 });
  expect(story.state.recordings.get("c")?.status).toBe("online");
  expect(story.state.recordings.get("a")?.status).toBe("offline");
});
