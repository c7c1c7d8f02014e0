import { expect, it } from "vitest";
import { auditGroups, type GroupLine, together } from "../../bench/chaos/audit-groups.ts";

const START = Date.UTC(2026, 10, 20, 14, 0);
const second = (n: number) => START + 1_000 * n;
const span = (from: number, to: number) => ({ from: second(from), to: second(to) });

type Line = readonly [at: number, status: GroupLine["status"], startsAt: number];

/** What is wrong at a camera server of ten recordings, `offline` of them from second 10 to `until` of 300. */
function found(lines: readonly Line[], { offline = 5, until = 40, unread = false } = {}) {
  const recordingIds = Array.from({ length: 10 }, (_, i) => `r${i}`);
  const answers = Array.from({ length: 300 }, (_, i) => second(i) + 500);
  const audited = auditGroups(
    lines.map(([at, status, startsAt], message) => ({
      at: second(at),
      integration: "groups/0",
      message,
      status,
      server: "s1",
      startsAt: second(startsAt),
    })),
    {
      servers: [{ id: "s1", recordingIds, locationIds: ["l1", "l2"] }],
      offline: new Map(recordingIds.slice(0, offline).map((id) => [id, [span(10, until)]])),
      answers: new Map([["l1", answers], ...(unread ? [] : [["l2", answers] as const])]),
      rule: { intervalMs: 1_000, forMs: 2_000, keepFiringForMs: 2_000, lateMs: 30_000 },
      end: second(300),
    },
  );
  return audited.verdicts.map(({ kind }) => kind);
}

it("an outage of half of a camera server has one beginning and one end", () => {
  expect(
    found([
      [14, "firing", 10],
      [44, "resolved", 10],
    ]),
  ).toEqual([]);
  expect(found([])).toEqual(["lost"]);
  expect(found([[14, "firing", 10]])).toEqual(["unresolved"]);
  expect(
    found([
      [14, "firing", 10],
      [15, "firing", 10],
      [44, "resolved", 10],
    ]),
  ).toEqual(["doubled"]);
  expect(found([[44, "resolved", 10]])).toEqual([]);
});

it("nothing has to be notified of less, of what was too short, or of what was not read", () => {
  expect(found([], { offline: 4 })).toEqual([]);
  expect(found([], { until: 16 })).toEqual([]);
  expect(found([], { unread: true })).toEqual([]);
});

it("a beginning or an end too early is false, and one that still lasts has no end", () => {
  expect(
    found([
      [11, "firing", 10],
      [44, "resolved", 10],
    ]),
  ).toEqual(["false"]);
  expect(
    found(
      [
        [14, "firing", 10],
        [44, "resolved", 10],
      ],
      { offline: 4 },
    ),
  ).toEqual(["false"]);
  expect(
    found([
      [14, "firing", 10],
      [30, "resolved", 10],
    ]),
  ).toEqual(["false"]);
  expect(found([[14, "firing", 10]], { until: 300 })).toEqual([]);
});

it("an alert goes on while its recordings are not fewer than the lower share", () => {
  const three = together([span(10, 40), span(12, 60), span(20, 50)], 2);
  expect(three).toEqual([span(12, 50)]);
  expect(together([span(10, 40), span(40, 50)], 1)).toEqual([span(10, 50)]);
});
