import fc from "fast-check";
import { expect, test } from "vitest";
import { groupsReadAt } from "../../src/health/groups-read.ts";

const NOW = 1_000_000;
const I = 10_000;
const STATES = { "group/camera_server/edge-7": {}, "group/organisation/acme": {}, "service/analytics": {} };

const part = fc.record({ agoMs: fc.nat({ max: 5 * I }), fresh: fc.nat({ max: 4 }), unread: fc.nat({ max: 4 }) });

const shardOf = ({ agoMs, fresh, unread }: { agoMs: number; fresh: number; unread: number }) => {
  const count = { known: fresh + unread, fresh, offline: [], shared: {}, locations: 0 };
  return { at: NOW - agoMs, offline: 0, counts: { camera_server: { "edge-7": count } } };
};

test("a group was read when half of its recordings were, at that time or later", () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const shards = [undefined, ...parts.map(shardOf)];
      const { "camera_server/edge-7": readAt = -1, ...others } =
        groupsReadAt(STATES, { shards }, { now: NOW, intervalMs: I }) ?? {};
      expect(others).toEqual({});
      const half = parts.reduce((sum, { fresh, unread }) => sum + fresh + unread, 0) / 2;
      const readSince = (at: number) =>
        parts.filter(({ agoMs }) => agoMs <= 3 * I && NOW - agoMs >= at).reduce((sum, { fresh }) => sum + fresh, 0);
      if (readAt === 0) expect(readSince(0) < half || half === 0).toBe(true);
      else {
        expect(readSince(readAt)).toBeGreaterThanOrEqual(half);
        if (half > 0) expect(readSince(readAt + 1)).toBeLessThan(half);
      }
    }),
  );
});
