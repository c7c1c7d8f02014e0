import { describe, expect, test } from "vitest";
import type { LogLine } from "../../src/alerting/decision-log.ts";
import { foldDecisions } from "../../src/alerting/fold-decisions.ts";
import { suppressionReasons } from "../../src/alerting/model.ts";

const till = { kind: "recording", id: "till-3" } as const;
const rule = "RecordingOffline";

type Short = readonly [
  at: number,
  reason: string,
  integration?: string | undefined,
  detail?: string | undefined,
  ruleId?: string | undefined,
];

/** Lines about the till; those that begin with `observed_` are of no rule. */
function lines(...all: readonly Short[]): LogLine[] {
  return all.map(([at, reason, integration, detail, ruleId]) => {
    const of = reason.startsWith("observed_") ? undefined : (ruleId ?? rule);
    return { subject: till, at, reason, integration, detail, ruleId: of };
  });
}

/** `0 offline → 10 Slack`. */
function folded(...all: readonly Short[]): string[] {
  return foldDecisions(lines(...all), String).map(({ steps }) =>
    steps.map(({ at, words }) => `${at} ${words}`).join(" → "),
  );
}

const began = [
  [0, "observed_offline"],
  [0, "pending"],
  [10, "firing"],
] as const;
const over = [
  [60, "observed_online"],
  [60, "clearing"],
  [70, "resolved"],
] as const;

describe("lines of one episode are one entry", () => {
  test("that says what it was, who was notified and how it ended", () => {
    const told: Short[] = [
      [11, "notified", "ops/slack/0", "first"],
      [12, "notified", "ops/email/0/dana@example.com", "first"],
    ];
    const ends: Short[] = [
      [71, "notified_end", "ops/slack/0", "recovered"],
      [72, "notified_end", "ops/email/0/dana@example.com", "recovered"],
    ];
    expect(folded(...began, ...told, ...over, ...ends)).toEqual([
      "0 offline → 11 Slack (ops), dana@example.com (ops) → 70 recovered",
    ]);
  });

  test.each([
    [
      "which did not last",
      [began[0], began[1], [5, "observed_online"], [5, "pending_ended"]],
      "0 offline → 5 over before it was to fire",
    ],
    [
      "which was acknowledged and given up twice",
      [
        ...began,
        [11, "notified", "ops/slack/0", "first"],
        ...[20, 40].flatMap((at): Short[] => [
          [at, "ack_set", undefined, "amy"],
          [at + 5, "ack_withdrawn", undefined, "amy"],
        ]),
      ],
      "0 offline → 11 Slack (ops) → 20 acknowledged by amy → 25 acknowledgement withdrawn by amy → 40 acknowledged by amy → 45 acknowledgement withdrawn by amy",
    ],
    ["which nobody was notified of", [...began, ...over], "0 offline → 10 fires → 70 recovered"],
    [
      "which another explains",
      [...began, [11, "inhibited", "ops/slack/0", "LocationOffline (Leeds)"], ...over],
      "0 offline → 10 fires → 11 inhibited by LocationOffline (Leeds) → 70 recovered",
    ],
    [
      "with reminders, acknowledged",
      [
        ...began,
        [11, "notified", "ops/slack/0"],
        [31, "reminded", "ops/slack/0", "3"],
        [40, "acknowledged", "ops/slack/0", "dana"],
      ],
      "0 offline → 11 Slack (ops) → 31 3 reminders → 40 acknowledged by dana",
    ],
    [
      "sent after it failed",
      [...began, [11, "failed", "ops/slack/0", "timeout"], [15, "notified", "ops/slack/0"]],
      "0 offline → 15 Slack (ops)",
    ],
    [
      "not sent yet",
      [...began, [11, "failed", "ops/slack/0", "timeout"]],
      "0 offline → 10 fires → 11 not sent to Slack (ops) yet, retrying: no answer in time",
    ],
    [
      "at two integrations of a channel",
      [...began, [11, "notified", "ops/slack/0"], [12, "notified", "boss/slack/0"]],
      "0 offline → 11 Slack (ops), Slack (boss)",
    ],
    ["whose beginning is not in the log", [[11, "notified", "ops/slack/0"], ...over], "11 Slack (ops) → 70 recovered"],
    [
      "with a reason that has no words",
      [...began, [12, "stopped_by_the_moon", "ops/slack/0"]],
      "0 offline → 10 fires → 12 stopped by the moon at Slack (ops)",
    ],
  ] as const)("%s", (_, all, expected) => {
    expect(folded(...(all as readonly Short[]))).toEqual([expected]);
  });

  test("but not of two episodes, two rules or two subjects", () => {
    const again = [...began, ...over].map(([at, reason]) => [at + 100, reason] as const);
    expect(folded(...began, ...over, ...again)).toHaveLength(2);
    expect(folded([0, "firing"], [1, "firing", undefined, undefined, "LowUptime"])).toHaveLength(2);
    const [a, b] = lines([0, "firing"], [1, "resolved"]);
    expect(foldDecisions([a, { ...b, subject: { kind: "location", id: "till-3" } }] as LogLine[], String)).toHaveLength(
      2,
    );
  });
});

test("a line that belongs to no episode stays as it is", () => {
  expect(folded([0, "observed_offline"], [90, "observed_online"])).toEqual(["0 seen offline", "90 seen online"]);
});

test("no line is lost and none is in two entries, whatever they are", () => {
  const reasons = ["observed_offline", "pending", "firing", "resolved", "notified", "failed", ...suppressionReasons];
  const all = Array.from({ length: 300 }, (_, i): Short => {
    const reason = reasons[(i * 7) % reasons.length] ?? "";
    return [Math.floor(i / 3), reason, i % 4 === 0 ? "ops/slack/0" : undefined, undefined, `R${i % 5}`];
  });
  const given = lines(...all);
  const entries = foldDecisions(given, String);
  expect(entries.flatMap((entry) => entry.lines).toSorted((a, b) => given.indexOf(a) - given.indexOf(b))).toEqual(
    given,
  );
  expect(entries.every(({ steps }) => steps.length > 0)).toBe(true);
});
