/** The Slack app's side of a run: a stand-in of Slack with one channel for each receiver that has the app. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ephemeral } from "../../src/demo/slack/methods.ts";
import type { StandInMessage } from "../../src/demo/slack/workspace.ts";
import { type SlackAnswer, startSlackStandIn } from "../../test/support/slack/stand-in.ts";
import type { AppPost, AppRoot } from "./notices.ts";

const PATIENCE_MS = 15_000;
const SHOWN_MS = 10_000;
/** Until it is known that a post was accepted, also after a kill: before, a deleted one is rightly posted again. */
const SETTLED_MS = 20_000;

const NEVER = Number.POSITIVE_INFINITY;

export type SlackApp = Awaited<ReturnType<typeof startSlackApp>>;

/** `receivers`: how many have the app, each in a channel of its own. */
export async function startSlackApp(receivers: number) {
  const names = Array.from({ length: receivers }, (_, i) => `team-${i}`);
  // What the run asks for in a minute is more than Slack takes: limits are faults of the plan.
  const slack = await startSlackStandIn({ channels: names, rateLimits: false });
  const { workspace, events } = slack;
  const rootsOf = (name: string) => workspace.channel(name)?.messages ?? [];
  /** With buttons, in any channel. */
  const open = () => names.flatMap((name) => rootsOf(name).filter((root) => !root.isDeleted && hasButtons(root)));
  const faults = new Map<string, symbol>();
  /** Posts that were deleted and were in no thread. */
  const gone: Omit<AppPost, "number">[] = [];

  return {
    slack,
    config: (receiver: number) => ({
      bot_token: slack.tokens.bot,
      app_token: slack.tokens.app,
      channel: `#team-${receiver}`,
      actions: { allow: "channel" },
    }),
    /** All posts of all channels with metadata of ours, in order. */
    posts(): AppPost[] {
      const all = names.flatMap((name, i) => slack.posts(name).flatMap((one) => postOf(one, `app/${i}`) ?? []));
      return [...gone, ...all].sort((a, b) => a.at - b.at).map((post, number) => ({ ...post, number: 1e6 + number }));
    },
    /** The roots that are still there, as they are shown now. */
    roots: (): AppRoot[] => names.flatMap((name, i) => rootsOf(name).flatMap((one) => rootOf(one, `app/${i}`))),
    /** Answers a method so for a while; the last fault of a method wins. */
    async fault(method: string, answer: SlackAnswer, lastsMs: number): Promise<void> {
      const mine = Symbol(method);
      faults.set(method, mine);
      slack.refuse(method, answer);
      await sleep(lastsMs);
      if (faults.get(method) === mine) slack.accept(method);
    },
    clearFaults(): void {
      faults.clear();
      slack.refusals.clear();
    },
    /** Resolves when a post is accepted, after 15 s at the latest; `mute`: that one is never answered. */
    async nextAccepted(mute: boolean): Promise<void> {
      if (mute) slack.refuse("chat.postMessage", "hangAfter", 1);
      await once(events, "posted", { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => {});
    },
    /** Deletes an older root of those with buttons, `which` between 0 and 1. */
    deleteRoot(which: number): void {
      const root = at(
        open().filter(({ ts }) => Number(ts) * 1_000 < Date.now() - SETTLED_MS),
        which,
      );
      const channel = root && workspace.channel(root.channel);
      if (!root || !channel) return;
      const post = postOf(root, `app/${names.indexOf(channel.name)}`);
      if (post && root.replies.length === 0) gone.push(post);
      slack.delete(channel, root.ts);
    },
    /**
     * Presses a button of a root, `which` between 0 and 1; resolves with the conversation, and when the root showed
     * it (infinity: it did not within 10 s).
     */
    async press(action: "acknowledge" | "silence", which: number) {
      const root = at(
        open().filter((one) => hasAction(one, action) && !isShared(one)),
        which,
      );
      const said = root && saidOf(root);
      if (!root || !said) return undefined;
      const pressedAt = Date.now();
      const word = action === "acknowledge" ? "— acknowledged" : "— silenced";
      const shown = root.text.includes(word) ? NEVER : shows(root, word);
      const isTaken = await pressed(root, action).then(
        () => true,
        () => false,
      );
      const conversation = said.conversation_id;
      return { action, conversation, pressedAt, shownAt: isTaken ? await shown : NEVER };
    },
    close: () => slack.close(),
  };

  /** Silences by the form that the first press shows. */
  async function pressed(root: StandInMessage, action: string): Promise<void> {
    const signal = AbortSignal.timeout(SHOWN_MS);
    const form = action === "silence" ? once(events, "ephemeral", { signal }) : undefined;
    form?.catch(() => {});
    await slack.press(root, action);
    const [{ body }] = ((await form) ?? [{}]) as [Partial<Ephemeral>];
    if (body) await slack.press({ ...root, ...body }, "silence.alerts", { typed: { reason: "chaos" } });
  }

  async function shows(root: StandInMessage, word: string): Promise<number> {
    const signal = AbortSignal.timeout(SHOWN_MS);
    while (!root.text.includes(word)) {
      const done = await once(events, "edited", { signal }).catch(() => undefined);
      if (!done) return NEVER;
    }
    return Date.now();
  }
}

function at<T>(all: readonly T[], which: number): T | undefined {
  return all[Math.floor(which * all.length)];
}

function saidOf({ metadata, versions }: StandInMessage) {
  const said = (metadata ?? versions[0]?.metadata)?.event_payload;
  return said as { notification_id: string; conversation_id: string; alerts: string } | undefined;
}

function postOf(message: StandInMessage, integration: string): Omit<AppPost, "number"> | undefined {
  const said = saidOf(message);
  if (message.by !== "bot" || !said) return undefined;
  return {
    at: Number(message.ts) * 1_000,
    integration,
    conversation: said.conversation_id,
    traces: said.alerts.split(" ").filter((one) => one !== ""),
  };
}

function rootOf(root: StandInMessage, integration: string): AppRoot[] {
  const said = saidOf(root);
  if (root.by !== "bot" || !said || root.isDeleted) return [];
  const { conversation_id: conversation } = said;
  return [{ at: Number(root.ts) * 1_000, integration, conversation, text: root.text, hasButtons: hasButtons(root) }];
}

function hasButtons({ blocks = [] }: StandInMessage): boolean {
  return blocks.some(({ type }) => type === "actions");
}

function hasAction({ blocks = [] }: StandInMessage, action: string): boolean {
  return blocks.some(({ elements = [] }) => elements.some((one) => one.action_id === action));
}

function isShared({ blocks = [] }: StandInMessage): boolean {
  return blocks.some(({ block_id: id = "" }) => id.includes(":storm:"));
}
