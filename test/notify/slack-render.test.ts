import { describe, expect, it } from "vitest";
import type { Notification } from "../../src/alerting/model.ts";
import { count as figure } from "../../src/lib/format.ts";
import { mrkdwn } from "../../src/notify/slack/mrkdwn.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { assertWithinSlackLimits, limitsBroken, type SlackBody } from "../support/slack-sink.ts";
import { alertOf, endedOf, notificationOf } from "./fixtures.ts";

function rendered(changes: Partial<Notification>): { body: SlackBody; lines: string[] } {
  const body = renderSlack(notificationOf(changes)) as SlackBody;
  assertWithinSlackLimits(body);
  const blocks = [...(body.blocks ?? []), ...(body.attachments?.[0]?.blocks ?? [])];
  return { body, lines: blocks.flatMap(({ text }) => text?.text.split("\n") ?? []) };
}

const many = (count: number, of = alertOf) => Array.from({ length: count }, (_, i) => of(`Camera ${i + 1}`));

const numberOf = (text: string) => Number(text.replaceAll(",", ""));

/** How many alerts of a list are named, and how many the line that cuts it counts. */
function tally(lines: readonly string[]): { named: number; counted: number } {
  const named = lines.filter((line) => line.startsWith("• ")).length;
  const counted = lines.reduce((sum, line) => sum + numberOf(/^(?:and )?([\d,]+) more/.exec(line)?.[1] ?? "0"), 0);
  return { named, counted };
}

describe("a Slack message", () => {
  it("puts the title first and the lines into an attachment of the severity's colour", () => {
    const { body, lines } = rendered({ firing: [alertOf("Till 3")] });
    expect(lines).toEqual([
      "*🔴 Till 3 offline · Leeds Briggate*",
      "Since 14:05 GMT (12 m)",
      expect.stringMatching(
        /^<https:\/\/lenswatch\.example\.com\/alerts\/[0-9a-f]+\|Acknowledge> · <https:\/\/lenswatch\.example\.com\/silences\/new\?matchers=[\w%+.-]+\|Silence> · <https:\/\/lenswatch\.example\.com\/recordings\/[0-9a-f]+\|Status>$/,
      ),
      "<https://lenswatch.example.com/|Open status page>",
    ]);
    expect(body.attachments?.[0]?.color).toBe("#d32f2f");
    expect(body.text?.split("\n")).toEqual(["🔴 Till 3 offline · Leeds Briggate", "Since 14:05 GMT (12 m)"]);
  });

  it("gives one line each where there are many", () => {
    const { lines } = rendered({ firing: many(20) });
    expect(tally(lines)).toEqual({ named: 20, counted: 0 });
  });

  it.each([90, 400, 10_000])("cuts a group of %i, counts all of it and links to the rest", (count) => {
    const { body, lines } = rendered({ firing: many(count) });
    const { named, counted } = tally(lines);
    expect(named + counted).toBe(count);
    expect(named).toBeGreaterThan(30);
    expect(lines[0]).toBe(`*🔴 ${figure(count)} recordings offline · Leeds Briggate*`);
    expect(lines.at(-1)).toMatch(/^and [\d,]+ more · <https:\/\/lenswatch\.example\.com\/\|Open status page>$/);
    expect(body.text?.length).toBeLessThanOrEqual(3_500);
  });

  it("leaves room for what is over when a great deal fires", () => {
    const { lines } = rendered({ reason: "more", firing: many(300), resolved: many(300, endedOf) });
    expect(lines).toContain("*Recovered (300)*");
    expect(lines.filter((line) => line.includes("recovered, was offline")).length).toBeGreaterThan(3);
    const { named, counted } = tally(lines);
    expect(named + counted).toBe(600);
  });

  it("drops notes rather than break a limit when everything is as long as can be", () => {
    const long = "& <*_~> ".repeat(2_000);
    const annotations = {
      summary: `1${long}`,
      description: `2${long}`,
      zones: `3${long}`,
      impact: `4${long}`,
      runbook_url: `https://wiki.example.com/${"a&".repeat(250)}`,
    };
    const firing = Array.from({ length: 5 }, (_, i) => alertOf(`${i}${long}`, { annotations }));
    const { lines } = rendered({ firing });
    expect(lines.filter((line) => line.includes("|Status>")).length).toBeGreaterThan(0);
  });

  it("contains no mentions and no markup from names", () => {
    const name = "<!channel> *bold* _it_ ~no~ `code` & <https://evil.example|here> :tada:";
    const { body } = rendered({ firing: [alertOf(name)] });
    const all = JSON.stringify(body).replaceAll("\u200b", "Z");
    expect(all).toContain("&lt;!channel&gt; Z*ZboldZ*Z Z_ZitZ_Z Z~ZnoZ~Z Z`ZcodeZ`Z &amp; &lt;https://evil.exa");
    expect(all).not.toContain("<!");
    expect(all).not.toContain("<https://evil");
  });
});

describe("mrkdwn text", () => {
  it.each([
    [":tada: at 10:30:45", ":Ztada: at 10:30:45"],
    ["> quoted", "Z&gt; quoted"],
    ["a > b", "a &gt; b"],
    ["Marks & Spencer", "Marks &amp; Spencer"],
    ["&lt;", "&amp;lt;"],
  ])("shows %s as it is", (text, expected) => {
    expect(mrkdwn(text).replaceAll("\u200b", "Z")).toBe(expected);
  });
});

describe("the limits that messages are checked against", () => {
  const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } as const });
  it.each<[string, SlackBody]>([
    ["nothing to show", {}],
    ["51 blocks", { text: "t", blocks: Array.from({ length: 51 }, () => section("x")) }],
    [
      "51 blocks, some in attachments",
      {
        blocks: Array.from({ length: 26 }, () => section("x")),
        attachments: [{ blocks: Array.from({ length: 25 }, () => section("x")) }],
      },
    ],
    ["a section over 3,000", { blocks: [section("x".repeat(3_001))] }],
    ["12,001 in all", { blocks: Array.from({ length: 5 }, () => section("x".repeat(2_401))) }],
    ["an empty section", { blocks: [section("")] }],
    ["a header over 150", { blocks: [{ type: "header", text: { type: "plain_text", text: "x".repeat(151) } }] }],
    ["a header in mrkdwn", { blocks: [{ type: "header", text: { type: "mrkdwn", text: "x" } }] }],
    ["a block nobody knows", { text: "t", blocks: [{ type: "marquee" }] }],
    ["a text over 4,000", { text: "x".repeat(4_001) }],
  ])("refuse %s", (_, body) => {
    expect(limitsBroken(body)).not.toEqual([]);
    expect(() => assertWithinSlackLimits(body)).toThrow("Slack would refuse this");
  });
});
