import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { episodeOf } from "../../src/alerting/incident.ts";
import type { ConversationNow, Notification, NotifyErrorScope } from "../../src/alerting/model.ts";
import type { SlackAppSettings } from "../../src/config/slack-schema.ts";
import { createLogger, silentLogger } from "../../src/lib/log.ts";
import type { Notifier } from "../../src/notify/notifier.ts";
import { createSlackAppNotifier } from "../../src/notify/slack/app.ts";
import { slackProblems } from "../support/harmless.ts";
import { type SlackAnswer, type SlackStandIn, startSlackStandIn } from "../support/slack/stand-in.ts";
import { describeChannel, type Fault, type Rig, type RigOptions } from "./contract.ts";
import { alertOf, NOW, notificationOf } from "./fixtures.ts";

const never = () => new AbortController().signal;
const CONVERSATION = "00112233445566aa";

function settingsOf(slack: SlackStandIn, changes: Partial<SlackAppSettings> = {}): SlackAppSettings {
  const none = { appToken: undefined, mention: [], actions: undefined };
  return { apiBase: slack.apiUrl.slice(0, -1), botToken: slack.tokens.bot, channel: "#ops", ...none, ...changes };
}

describe("its errors", () => {
  interface AppRig extends Rig {
    readonly slack: SlackStandIn;
  }

  async function startRig({ timeoutMs, log }: RigOptions): Promise<AppRig> {
    const slack = await startSlackStandIn();
    const notifier = createSlackAppNotifier({ app: settingsOf(slack), timeoutMs, log });
    return {
      slack,
      notifier,
      secrets: [slack.tokens.bot],
      accepted: () => slack.posts("#ops").length,
      hang: () => slack.refuse("*", "hang"),
      vanish: () => slack.close(),
      async close() {
        await notifier.close();
        await slack.close();
      },
    };
  }

  const answering = (answer: SlackAnswer, code: Fault<AppRig>["code"], scope: NotifyErrorScope): Fault<AppRig> => ({
    when: `Slack answers ${JSON.stringify(answer)}`,
    arrange: ({ slack }) => slack.refuse("chat.postMessage", answer),
    code,
    scope,
    retryable: code !== "bad_request",
  });
  const token = (error: string) => answering(error, "auth", "endpoint");
  const channel = (error: string) => answering(error, "not_found", "integration");
  const malformed = (error: string) => answering(error, "bad_request", "message");

  describeChannel("The Slack app", startRig, [
    ...["not_authed", "invalid_auth", "token_revoked", "token_expired", "account_inactive"].map(token),
    answering({ error: "missing_scope", needed: "chat:write", provided: "users:read" }, "auth", "endpoint"),
    answering("not_allowed_token_type", "auth", "endpoint"),
    answering("restricted_action", "auth", "integration"),
    ...["channel_not_found", "not_in_channel", "is_archived"].map(channel),
    ...["msg_too_long", "msg_blocks_too_long", "invalid_blocks", "no_text", "metadata_too_large"].map(malformed),
    answering("thread_not_found", "conversation_gone", "message"),
    answering("ratelimited", "rate_limited", "integration"),
    answering({ status: 429, retryAfter: 3 }, "rate_limited", "integration"),
    answering("internal_error", "server_error", "endpoint"),
    answering("fatal_error", "server_error", "endpoint"),
    answering({ status: 503, body: "<html>xoxb-stand-in-bot-token-1234567890</html>" }, "server_error", "endpoint"),
    answering({ status: 200, body: "<html>Sign in to the guest network</html>" }, "other", "integration"),
    answering({ status: 404, body: "no" }, "not_found", "endpoint"),
    answering("some_error_of_tomorrow", "other", "integration"),
    answering("reset", "network", "endpoint"),
  ]);
});

describe("its conversations", () => {
  let slack: SlackStandIn;
  let app: Notifier;
  let other: Notifier;
  let moved: Notifier;
  const lines: string[] = [];

  beforeAll(async () => {
    slack = await startSlackStandIn({ rateLimits: false, channels: ["ops", "moved"] });
    const destination = { write: (line: string) => lines.push(line) } as unknown as NodeJS.WritableStream;
    const log = createLogger({ level: "trace", destination });
    const mention = [
      { severity: "critical", who: "<!subteam^S0123ABCD>" },
      { severity: "critical", who: "<!subteam^S0123ABCD>" },
      { severity: "warning", who: "<@U0123ABCD>" },
    ];
    app = createSlackAppNotifier({ app: settingsOf(slack, { mention }), timeoutMs: 60_000, log });
    moved = createSlackAppNotifier({
      app: settingsOf(slack, { channel: "#moved" }),
      timeoutMs: 60_000,
      log: silentLogger,
    });
    other = createSlackAppNotifier({ app: settingsOf(slack), timeoutMs: 60_000, log: silentLogger });
  });
  afterAll(async () => {
    await app.close();
    await other.close();
    await moved.close();
    await slack.close();
    expect(lines.join("")).not.toContain(slack.tokens.bot);
  });
  const channel = () => slack.channel("#ops");
  const root = () => channel().messages.at(-1);

  let handle: string | undefined;
  beforeEach(() => {
    handle = undefined;
    slack.refusals.clear();
  });

  function notificationIn(changes: Partial<Notification>, now: Partial<ConversationNow> = {}): Notification {
    const conversation = { id: CONVERSATION, openedAt: NOW, isOver: false, handle, ...now };
    const messageId = `${changes.reason ?? "first"}-${Math.random()}`;
    return notificationOf({ messageId, trace: ["a1", "b2"], conversation, ...changes });
  }

  /** Sends, and keeps the handle as delivery would. */
  async function send(changes: Partial<Notification>, now: Partial<ConversationNow> = {}) {
    const notification = notificationIn(changes, now);
    const posted = await app.send(notification, { signal: never() });
    handle = posted?.handle ?? handle;
    return { notification, posted };
  }

  const till = alertOf("Till 3", { labels: { severity: "critical" } as never });

  it("opens with a root that says what it is about in its metadata", async () => {
    const { notification, posted } = await send({ firing: [till] });
    expect(root()).toMatchObject({
      metadata: {
        event_type: "lenswatch_notification",
        event_payload: { notification_id: notification.messageId, conversation_id: CONVERSATION, alerts: "a1 b2" },
      },
      replies: [],
      versions: [{}],
    });
    expect(JSON.parse(posted?.handle ?? "")).toEqual({ channel: channel().id, ts: root()?.ts, of: "#ops" });
    const unmentioned = JSON.stringify({ ...root(), text: "" }).replaceAll(" <!subteam^S0123ABCD>", "");
    expect(slackProblems(JSON.parse(unmentioned))).toEqual([]);
  });

  it.each([
    ["more", true],
    ["reminder", true],
    ["resolved", false],
  ] as const)(
    "answers %s in the thread, shown in the channel as well: %s, and edits the root",
    async (reason, isNews) => {
      await send({ firing: [till] });
      await send({ reason, firing: [till, alertOf("Till 4")] });
      expect(root()?.replies).toMatchObject([
        { isBroadcast: isNews, metadata: { event_type: "lenswatch_notification" } },
      ]);
      expect(root()?.versions).toHaveLength(2);
      expect(root()?.metadata?.event_payload).toMatchObject({ notification_id: expect.stringContaining("first") });
    },
  );

  it("edits the root alone for an update, and posts nothing where there is none", async () => {
    const before = channel().messages.length;
    expect(await send({ reason: "update", firing: [till] })).toMatchObject({ posted: undefined });
    expect(channel().messages).toHaveLength(before);
    await send({ firing: [till] });
    await send({ reason: "update", firing: [till] });
    expect(root()).toMatchObject({ replies: [], versions: [{}, {}] });
    expect(slack.calls.at(-1)).toMatchObject({ method: "chat.update", args: { parse: "none" } });
  });

  it("leaves the root of a summary as it was until all of it is over", async () => {
    const ended = { ...till, state: "resolved", endsAt: NOW, endReason: "recovered", isNew: false } as const;
    await send({ groups: 12, firing: [till] }, { groups: 12 });
    await send({ reason: "resolved", resolved: [ended] }, { groups: 12 });
    expect(root()).toMatchObject({ replies: [{}], versions: [{}] });
    const whole = { ended: ["Till 3", "Till 4"].map((name) => episodeOf({ ...ended, id: `${name}@1` })), unknown: 0 };
    await send({ reason: "resolved", resolved: [ended] }, { groups: 12, isOver: true, whole });
    expect(root()).toMatchObject({ replies: [{}, {}], versions: [{}, {}] });
    expect(JSON.stringify(root()?.versions[1])).toContain("all recovered");
  });

  it("mentions by severity, in news alone, each once", async () => {
    await send({ firing: [{ ...till, isNew: true }] });
    const mention = "<!subteam^S0123ABCD>";
    const said = (one: object | undefined) => JSON.stringify(one).split(mention).length - 1;
    expect(said(root()?.versions[0])).toBeGreaterThan(0);
    expect(root()?.versions[0]?.text?.split(mention)).toHaveLength(2);
    await send({
      reason: "more",
      firing: [
        { ...till, isNew: false },
        { ...alertOf("Till 4", { labels: { severity: "info" } as never }), isNew: true },
      ],
    });
    await send({ reason: "resolved", firing: [], resolved: [{ ...till, isNew: false }] });
    await send({ reason: "update", firing: [{ ...till, isNew: true }] });
    expect(root()?.replies.map(said)).toEqual([0, 0]);
    expect(root()?.versions.slice(1).map(said)).toEqual([0, 0, 0]);
    await send({ reason: "reminder", firing: [{ ...till, isNew: false }] });
    expect(said(root()?.replies.at(-1))).toBeGreaterThan(0);
  });

  it("keeps the news where the edit fails, and says that the root is stale", async () => {
    await send({ firing: [till] });
    slack.refuse("chat.update", "internal_error", 1);
    const { posted } = await send({ reason: "more", firing: [till, alertOf("Till 4")] });
    expect(posted).toEqual({ handle, isStale: true });
    expect(root()?.replies).toHaveLength(1);
  });

  it.each([
    ["first", undefined],
    ["reminder", undefined],
    ["first", 12],
    ["reminder", 12],
  ] as const)("posts nothing below a root that was deleted (after %s, groups: %s)", async (reason, groups) => {
    const now = groups === undefined ? {} : { groups };
    await send({ ...now, firing: [till] }, now);
    if (reason === "reminder") await send({ reason, firing: [till] }, now);
    slack.delete(channel(), root()?.ts ?? "");
    const before = slack.posts("#ops").length;
    const news = { reason: "more", firing: [till, alertOf("Till 4")] } as const;
    await expect(send(news, now)).rejects.toMatchObject({ code: "conversation_gone" });
    expect(slack.posts("#ops")).toHaveLength(before);
  });

  it.each(["internal_error", { error: "missing_scope", needed: "channels:history" }])(
    "posts the news of a summary where it cannot be read whether its root is there (%j)",
    async (answer) => {
      await send({ groups: 12, firing: [till] }, { groups: 12 });
      slack.refuse("conversations.replies", answer, 1);
      const { posted } = await send({ reason: "more", firing: [till, alertOf("Till 4")] }, { groups: 12 });
      expect(posted).toEqual({ handle });
      expect(root()?.replies).toHaveLength(1);
    },
  );

  it("opens anew in the channel that is configured now, and where that of the root is gone", async () => {
    await send({ firing: [till] });
    const news = notificationIn({ reason: "more", firing: [till] });
    const posted = await moved.send(news, { signal: never() });
    expect(posted?.handle).toContain(slack.channel("#moved").id);
    expect([root()?.replies, slack.posts("#moved")]).toMatchObject([[], [{ threadTs: undefined, versions: [{}] }]]);
    slack.refuse("chat.postMessage", "channel_not_found");
    await expect(app.send(news, { signal: never() })).rejects.toMatchObject({ code: "conversation_gone" });
    handle = undefined;
    await expect(send({ firing: [till] })).rejects.toMatchObject({ code: "not_found", scope: "integration" });
  });

  it("says that the conversation is gone where the root of an update is", async () => {
    await send({ firing: [till] });
    slack.delete(channel(), root()?.ts ?? "");
    await expect(send({ reason: "update", firing: [till] })).rejects.toMatchObject({ code: "conversation_gone" });
  });

  it.each(["resetAfter", "hangAfter"] as const)(
    "finds what was posted though the answer was lost (%s)",
    async (answer) => {
      const since = Date.now();
      const id = (answer === "hangAfter" ? "aa" : "bb").repeat(8);
      slack.refuse("chat.postMessage", answer, 1);
      const first = notificationIn({ firing: [till] }, { id });
      await expect(app.send(first, { signal: AbortSignal.timeout(200) })).rejects.toThrow("Slack");
      const asked = { id };
      for (const one of [app, other]) {
        const found = await one.find?.(asked, since, { signal: never() });
        expect(found?.at(-1)).toMatchObject({ notificationId: first.messageId });
        handle = found?.at(-1)?.handle;
      }
      slack.refuse("chat.postMessage", answer, 1);
      const ends = notificationIn({ reason: "resolved", firing: [], resolved: [till] }, { id });
      await expect(app.send(ends, { signal: AbortSignal.timeout(200) })).rejects.toThrow("Slack");
      const replies = await other.find?.({ ...asked, handle }, since, { signal: never() });
      expect(replies?.filter(({ notificationId }) => notificationId === ends.messageId)).toEqual([
        { handle, notificationId: ends.messageId },
      ]);
    },
  );

  it("finds nothing of another conversation, of another app, or from before", async () => {
    const since = Date.now();
    const { notification } = await send({ firing: [till] });
    const event_payload = { ...root()?.metadata?.event_payload, notification_id: "forged" };
    const metadata = { event_type: "lenswatch_notification", event_payload };
    slack.workspace.post(channel(), { text: "forged", metadata }, { by: "B0FORGER" });
    const ids = async (since: number, id = CONVERSATION) =>
      (await app.find?.({ id }, since, { signal: never() }))?.map(({ notificationId }) => notificationId);
    expect(await ids(since)).toContain(notification.messageId);
    expect(await ids(since)).not.toContain("forged");
    expect(await ids(since, "ff".repeat(8))).toEqual([]);
    expect(await ids(Date.now() + 3_600_000)).toEqual([]);
  });

  it("reads further pages of a busy channel", async () => {
    const since = Date.now();
    const { notification } = await send({ firing: [till] });
    for (let i = 0; i < 450; i += 1) slack.workspace.post(channel(), { text: "chatter" }, { by: "U0CHATTER" });
    const found = await app.find?.({ id: CONVERSATION }, since, { signal: never() });
    expect(found?.map(({ notificationId }) => notificationId)).toContain(notification.messageId);
  });

  it("says once that it cannot look, and lets delivery go on", async () => {
    slack.scopes.bot.delete("channels:history");
    const before = lines.length;
    for (let i = 0; i < 2; i += 1) {
      expect(await app.find?.({ id: CONVERSATION }, NOW, { signal: never() })).toBeUndefined();
    }
    slack.scopes.bot.add("channels:history");
    const warnings = lines.slice(before).filter((line) => line.includes("may be repeated"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("add the scope channels:history");
  });

  it("finds a reply that became a root, and none of another conversation", async () => {
    const since = Date.now();
    await send({ firing: [till] }, { id: "cc".repeat(8), groups: 12 });
    slack.delete(channel(), root()?.ts ?? "");
    slack.refuse("chat.postMessage", "resetAfter", 1);
    const news = { reason: "question", firing: [till] } as const;
    await expect(send(news, { id: "cc".repeat(8), groups: 12 })).rejects.toThrow("Slack");
    const signal = never();
    for (const id of ["dd".repeat(8), "cc".repeat(8)]) {
      const found = await app.find?.({ id, handle }, since, { signal });
      expect(found?.at(0)?.handle).toBe(
        id.startsWith("d") ? undefined : JSON.stringify({ channel: channel().id, ts: root()?.ts, of: "#ops" }),
      );
    }
  });

  it.each([
    ["conversations.history", "internal_error", "server_error"],
    ["conversations.history", "not_in_channel", "not_found"],
    ["auth.test", "token_revoked", "auth"],
  ] as const)("passes on a failure of the search: it is made again (%s: %s)", async (method, answer, code) => {
    slack.refuse(method, answer, 1);
    await expect(app.find?.({ id: CONVERSATION }, NOW, { signal: never() })).rejects.toMatchObject({ code });
  });
});

describe("its connection", () => {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    vi.unstubAllEnvs();
  });

  it("reads no endless answer", async () => {
    const slack = await startSlackStandIn();
    cleanups.push(slack.close);
    const app = createSlackAppNotifier({ app: settingsOf(slack), timeoutMs: 60_000, log: silentLogger });
    cleanups.push(app.close);
    slack.refuse("chat.postMessage", { status: 200, body: `{"ok":true,"x":"${"x".repeat(9 * 1024 * 1024)}"}` });
    const sent = app.send(notificationOf({ firing: [alertOf("Till 3")] }), { signal: never() });
    await expect(sent).rejects.toMatchObject({ code: "network" });
  });

  it("asks for no history while Slack limits that, whichever channel and conversation it is about", async () => {
    const slack = await startSlackStandIn({ rateLimits: false, channels: ["ops", "other"] });
    cleanups.push(slack.close);
    const [app, other] = ["#ops", "#other"].map((channel) => {
      const notifier = createSlackAppNotifier({
        app: settingsOf(slack, { channel }),
        timeoutMs: 60_000,
        log: silentLogger,
      });
      cleanups.push(notifier.close);
      return notifier;
    });
    const now = vi.spyOn(performance, "now");
    cleanups.push(() => now.mockRestore());
    const start = performance.now();
    const search = (one: Notifier | undefined) => one?.find?.({ id: CONVERSATION }, NOW, { signal: never() });
    const asked = () => slack.calls.filter(({ method }) => method === "conversations.history").length;
    slack.refuse("conversations.history", { status: 429, retryAfter: 8 }, 1);
    now.mockReturnValue(start);
    await expect(search(app)).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 8_000 });
    now.mockReturnValue(start + 7_000);
    await expect(search(other)).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 1_000 });
    await app?.send(notificationOf({ firing: [alertOf("Till 3")] }), { signal: never() });
    expect([asked(), slack.posts("#ops").length]).toEqual([1, 1]);
    now.mockReturnValue(start + 8_001);
    expect(await search(other)).toEqual([]);
  });

  it("asks once, without a retry or a line of its client, and waits as long as Slack asks for", async () => {
    const written = ["debug", "info", "warn", "error"].map((name) => vi.spyOn(console, name as "info"));
    const slack = await startSlackStandIn();
    cleanups.push(slack.close);
    const app = createSlackAppNotifier({ app: settingsOf(slack), timeoutMs: 60_000, log: silentLogger });
    cleanups.push(app.close);
    for (const [answer, retryAfterMs] of [
      [{ status: 429, retryAfter: 7 }, 7_000],
      [{ status: 429 }, 1_000],
      [{ status: 503 }, undefined],
      ["reset", undefined],
    ] as const) {
      slack.refuse("chat.postMessage", answer);
      const sent = app.send(notificationOf({ firing: [alertOf("Till 3")] }), { signal: never() });
      await expect(sent).rejects.toMatchObject({ retryable: true, retryAfterMs });
    }
    expect(slack.calls).toHaveLength(4);
    for (const spy of written) expect(spy).not.toHaveBeenCalled();
  });
});
