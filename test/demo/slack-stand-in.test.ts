import { WebClient } from "@slack/web-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SlackStandIn, startSlackStandIn } from "../support/slack/stand-in.ts";

let slack: SlackStandIn;
let client: WebClient;
const quiet = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, setName() {}, getLevel: () => "error" };

function clientOf(token: string): WebClient {
  const options = { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true };
  return new WebClient(token, { ...options, logger: quiet as never });
}

beforeAll(async () => {
  slack = await startSlackStandIn({ channels: ["ops", "other", "busy"] });
  client = clientOf(slack.tokens.bot);
});
afterAll(() => slack.close());

const metadata = { event_type: "noted", event_payload: { id: "n1" } };
const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (thrown) => thrown.data?.error ?? thrown.message,
  );

describe("the stand-in of Slack", () => {
  it("keeps threads, broadcasts, edits with their history, and metadata", async () => {
    const root = await client.chat.postMessage({ channel: "#ops", text: "root", metadata });
    const { id } = slack.channel("#ops");
    expect(root).toMatchObject({ channel: id, message: { text: "root" } });
    const thread = { channel: id, thread_ts: root.ts ?? "" };
    const reply = await client.chat.postMessage({ ...thread, text: "plain" });
    const news = await client.chat.postMessage({ ...thread, text: "news", reply_broadcast: true });
    expect(reply.message?.thread_ts).toBe(root.ts);
    await client.chat.update({ channel: id, ts: root.ts ?? "", text: "root, edited" });
    expect(slack.channel(id).messages).toMatchObject([
      {
        text: "root, edited",
        metadata,
        versions: [{ text: "root" }, { text: "root, edited" }],
        replies: [{ text: "plain" }, { text: "news", isBroadcast: true }],
      },
    ]);
    const first = await client.conversations.history({ channel: id, limit: 1, include_all_metadata: true });
    expect(first).toMatchObject({ has_more: true, messages: [{ ts: news.ts, subtype: "thread_broadcast" }] });
    const cursor = first.response_metadata?.next_cursor ?? "";
    const second = await client.conversations.history({ channel: id, limit: 1, cursor, include_all_metadata: true });
    expect(second).toMatchObject({ has_more: false, messages: [{ ts: root.ts, metadata, reply_count: 2 }] });
    const replies = await client.conversations.replies({ channel: id, ts: root.ts ?? "", oldest: reply.ts ?? "" });
    expect(replies.messages?.map(({ text }) => text)).toEqual(["root, edited", "news"]);
  });

  it("posts a reply to a deleted message as a root, as Slack does", async () => {
    const { id } = slack.channel("other");
    const root = await client.chat.postMessage({ channel: id, text: "root" });
    slack.delete(slack.channel(id), root.ts ?? "");
    expect(await errorOf(client.chat.update({ channel: id, ts: root.ts ?? "", text: "edit" }))).toBe(
      "message_not_found",
    );
    const reply = await client.chat.postMessage({ channel: id, text: "reply", thread_ts: root.ts ?? "" });
    expect(reply.message?.thread_ts).toBeUndefined();
    expect(slack.channel(id).messages.map(({ text }) => text)).toEqual(["reply"]);
  });

  it("refuses what Slack refuses, in its words", async () => {
    const { id } = slack.channel("other");
    const section = (text: string) => [{ type: "section", text: { type: "mrkdwn" as const, text } }];
    const post = (more: object) => errorOf(client.chat.postMessage({ channel: id, text: "t", ...more }));
    expect(await post({ text: "x".repeat(4_001) })).toBe("msg_too_long");
    expect(await post({ blocks: section("x".repeat(3_001)) })).toBe("invalid_blocks");
    expect(await post({ blocks: Array.from({ length: 5 }, () => section("x".repeat(2_900))[0]) })).toBe(
      "msg_blocks_too_long",
    );
    expect(await post({ metadata: { event_type: "no spaces", event_payload: {} } })).toBe("invalid_metadata_format");
    expect(await post({ metadata: { event_type: "e", event_payload: { x: "x".repeat(9_000) } } })).toBe(
      "metadata_too_large",
    );
    expect(await post({ channel: "#none" })).toBe("channel_not_found");
    expect(await errorOf(client.conversations.history({ channel: "#other" }))).toBe("channel_not_found");
    expect(await errorOf(clientOf("xoxb-wrong").auth.test())).toBe("invalid_auth");
    expect(await errorOf(clientOf(slack.tokens.app).auth.test())).toBe("not_allowed_token_type");
    slack.archived.add("other");
    expect(await post({})).toBe("is_archived");
  });

  it("allows a message a second in a channel, after a short burst", async () => {
    const { id } = slack.channel("busy");
    const many = await Promise.all(
      Array.from({ length: 12 }, () => errorOf(client.chat.postMessage({ channel: id, text: "t" }))),
    );
    expect(many.filter((one) => one === "ok").length).toBe(10);
    expect(many.at(-1)).toContain("rate-limit");
  });
});
