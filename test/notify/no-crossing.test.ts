import fc from "fast-check";
import { expect, test } from "vitest";
import type { Alert } from "../../src/health/alert.ts";
import { alertTitle } from "../../src/http/page/alert-table.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { emptyShard, HOUR, qualityRule, Story, uptimeRule } from "../health/shard-history.ts";
import { notificationOf } from "./fixtures.ts";

const [from, recipient] = ["lenswatch@example.com", "ops@example.com"];
const ADDRESSES = { from, sender: from, to: [recipient], recipient };

/** Thresholds with up to four decimals in per cent, and a figure just beside the lower or upper one. */
const cases = fc
  .record({
    kind: fc.constantFrom("average_quality" as const, "overall_uptime" as const),
    decimals: fc.integer({ min: 0, max: 4 }),
    thresholds: fc.tuple(fc.double({ min: 0.3, max: 0.99, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
    offset: fc.tuple(fc.integer({ min: 2, max: 16 }), fc.integer({ min: -9, max: 9 })),
  })
  .map(({ kind, decimals, thresholds: [low, more], offset: [digits, steps] }) => {
    const scale = 10 ** (decimals + 2);
    const below = Math.ceil(low * scale) / scale;
    const clearAbove = Math.max(below, Math.floor((below + more * (1 - below)) * scale) / scale);
    return { kind, below, clearAbove, by: steps * 10 ** -digits };
  });

test("no figure is shown on the other side of its threshold, in messages, mail, pages and annotations", () => {
  fc.assert(
    fc.property(cases, ({ kind, below, clearAbove, by }) => {
      const own = kind === "average_quality" ? qualityRule : uptimeRule;
      const more = kind === "average_quality" ? {} : { overMs: 24 * HOUR };
      const story = new Story(own({ when: { kind, below, clearAbove, ...more } as never, keepFiringForMs: HOUR }));
      const see = (figure: number) => {
        story.uptimes.set("a", figure);
        story.sweep({ a: { averageQuality: figure } });
        return story.last.transitions.map(({ alert }) => alert);
      };
      const at = (threshold: number) => Math.min(1, Math.max(0, threshold + by));
      for (const alert of see(at(below))) {
        for (const text of [...figuresOf(alert), alert.annotations.description ?? ""]) expectSide(text, below, "below");
      }
      story.state = emptyShard;
      const [begun] = see(below / 2);
      see(at(clearAbove));
      const state = story.alertState("a", own().id);
      const side = state && state.clearingSince === undefined ? "below" : "reached";
      for (const text of figuresOf({ ...begun, ...state, state: "firing" } as Alert))
        expectSide(text, clearAbove, side);
    }),
    { numRuns: 150 },
  );
});

/** Each place that shows a firing alert's figure. */
function figuresOf(firing: Alert): string[] {
  const notified = { ...firing, fingerprint: "0123456789abcdef", isNew: true } as never;
  const notification = notificationOf({ firing: [notified] });
  const rendered = [renderEmail(notification, ADDRESSES).text, JSON.stringify(renderSlack(notification))];
  return [
    alertTitle(firing),
    ...rendered.map((text) => text.slice(Math.max(0, text.search(/(quality|uptime) [\d.]+ %/)))),
  ];
}

/** The first figure of the text against the threshold. */
function expectSide(text: string, threshold: number, side: "below" | "reached"): void {
  const shown = Number(/([\d.]+) %/.exec(text)?.[1]) / 100;
  expect(shown, text).not.toBeNaN();
  const isBelow = Number(shown.toFixed(9)) < Number(threshold.toFixed(9));
  expect(isBelow ? "below" : "reached", `${text} against ${threshold}`).toBe(side);
}
