import { expect, test } from "vitest";
import { makeBlockId, parseBlockId, slackIntegrationHash } from "../../src/notify/slack/action-id.ts";

const conversation = "0123456789abcdef";

test("a block id names integration, group and conversation", () => {
  const id = makeBlockId("ops/slack/0", "3f2a00c1d2e3f405", conversation, 1_790_000_000_000.4) ?? "";
  expect(parseBlockId(id)).toEqual({
    integration: slackIntegrationHash("ops/slack/0"),
    group: "3f2a00c1d2e3f405",
    conversation,
    // Not earlier than an alert that it shows.
    seen: 1_790_000_000_001,
  });
  expect(parseBlockId(makeBlockId("ops/slack/0", "storm", conversation, 0) ?? "")?.group).toBe("storm");
});

test("each edit has a block id of its own", () => {
  const [one = "", other = ""] = [1, 2].map((now) => makeBlockId("ops/slack/0", "g", conversation, now));
  expect(one).not.toBe(other);
  expect(parseBlockId(one)).toEqual({ ...parseBlockId(other), seen: 1 });
});

test.each([
  "",
  "lw:0123456789ab:storm",
  `lw:0123456789ab:a:b:${conversation}`,
  `xx:0123456789ab:storm:${conversation}`,
  `lw:0123456789ab:storm:${conversation}0`,
  `lw:0123456789ab:<!channel>:${conversation}`,
  `lw:0123456789ab:storm:${conversation}`,
  `lw:0123456789ab:${"a".repeat(250)}:${conversation}:1`,
])("%j is not a block id of lenswatch", (text) => {
  expect(parseBlockId(text)).toBeUndefined();
});

test("a group id that Slack would refuse has no block id", () => {
  expect(makeBlockId("ops/slack/0", "g".repeat(250), conversation, 0)).toBeUndefined();
});
