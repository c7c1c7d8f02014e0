/**
 * Presses of Slack: the person, whether it is allowed, and what it is about. Any replica may get one, and get
 * it again; `slack-verbs.ts` makes each change once. The answer is for the person alone.
 */
import type { RefusalReason } from "../alerting/audit.ts";
import type { SlackAppSettings } from "../config/slack-schema.ts";
import { nextMorning } from "../http/page/silence-request.ts";
import { withDeadline } from "../lib/closer.ts";
import { parseDuration } from "../lib/duration.ts";
import { clean } from "../notify/name.ts";
import { parseBlockId, slackIntegrationHash, slackSilences } from "../notify/slack/action-id.ts";
import { type SlackEnvelope, SlackPress, slackFailed } from "../notify/slack/envelope.ts";
import { parseHandle } from "../notify/slack/handle.ts";
import { mrkdwn } from "../notify/slack/mrkdwn.ts";
import type { Store } from "../store/store.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { aboutAlerts, type Person, SlackVerbs, type SlackVerbsDeps } from "./slack-verbs.ts";

/** An integration whose buttons come over one socket. */
export interface SlackIntegration {
  readonly id: string;
  readonly app: SlackAppSettings;
}

interface SlackActionsDeps extends SlackVerbsDeps {
  readonly integrations: readonly SlackIntegration[];
  readonly store: SlackVerbsDeps["store"] & Pick<Store, "conversations">;
  readonly audit: Pick<AuditTrail, "record">;
  /** The id of the workspace that the bot token is of. */
  teamOf(app: SlackAppSettings): Promise<string>;
  /** Shows a text to one person or, without a user, to everybody, in a thread. */
  tell(app: SlackAppSettings, to: Addressee, text: string): Promise<void>;
}

export type Addressee = { readonly channel: string } & ({ readonly user: string } | { readonly thread_ts: string });

interface Asking extends Person {
  readonly team: string;
  readonly isOurApp: boolean;
  readonly channel: string;
  /** The message that was pressed. */
  readonly ts?: string;
}

/** Redis may be away, and what was asked then takes effect later. */
const ACT_MS = 15_000;

const OVER = "This is over: nothing in it fires any more. Nothing was changed.";
const GONE = "The integration of this message is not configured any more. Nothing was changed.";

export class SlackActions {
  readonly #deps: SlackActionsDeps;
  readonly #verbs: SlackVerbs;

  constructor(deps: SlackActionsDeps) {
    this.#deps = deps;
    this.#verbs = new SlackVerbs(deps);
  }

  /** Acts on what Slack sent for the app `appId`. */
  async act(envelope: SlackEnvelope, appId: string | undefined): Promise<void> {
    const press = SlackPress.safeParse(envelope.payload).data;
    if (press) await this.#pressed(press, appId);
  }

  /** Somebody of the workspace, in the channel; where only some may, one of them. */
  async #refusalOf(app: SlackAppSettings, asking: Asking, isThere: boolean, onlyReads = false) {
    if (!isThere || !asking.isOurApp || asking.team !== (await this.#deps.teamOf(app))) return "other_channel";
    const { allow } = app.actions ?? { allow: [] };
    return onlyReads || allow === "channel" || allow.includes(asking.id) ? undefined : "not_allowed";
  }

  #refuse(reason: RefusalReason, app: SlackAppSettings, { id, name }: Person, asked: string): string {
    const actor = { via: "slack", name: id, person: name } as const;
    void this.#deps.audit.record({ actor, action: "refused", outcome: "refused", target: `Slack: ${asked}`, reason });
    const { allow } = app.actions ?? { allow: [] };
    if (reason === "other_channel" || allow === "channel")
      return `Only people in ${channelLink(app.channel)} may do this, there. Nothing was changed.`;
    return `Only ${allow
      .slice(0, 20)
      .map((one) => `<@${one}>`)
      .join(", ")} may do this. Nothing was changed.`;
  }

  async #pressed(press: SlackPress, appId: string | undefined): Promise<void> {
    const { user, container, team, actions, api_app_id } = press;
    const target = parseBlockId(actions[0]?.block_id ?? "");
    if (!target || !actions[0] || ["runbook", "open"].includes(actions[0].action_id)) return;
    const own = this.#deps.integrations.find(({ id }) => slackIntegrationHash(id) === target.integration);
    const { app } = own ?? this.#deps.integrations[0] ?? {};
    if (!app) return;
    const asking = {
      id: user.id,
      name: nameOf(user.id, user.name || user.username),
      team: user.team_id ?? team?.id ?? "",
      isOurApp: api_app_id === appId,
      channel: container.channel_id,
      ts: container.message_ts,
    };
    // In a thread, where it might belong, Slack shows it only to people who follow that.
    const to = { channel: asking.channel, user: user.id };
    try {
      const answer = own ? await withDeadline(this.#answerTo(own, target, asking, actions[0]), ACT_MS) : GONE;
      if (answer) await this.#deps.tell(app, to, answer);
    } catch (thrown) {
      await this.#deps.tell(app, to, slackFailed).catch(() => {});
      throw thrown;
    }
  }

  async #answerTo(
    { id, app }: SlackIntegration,
    target: NonNullable<ReturnType<typeof parseBlockId>>,
    asking: Asking,
    { action_id, selected_option }: SlackPress["actions"][number],
  ): Promise<string | undefined> {
    const open = await this.#deps.store.conversations.open(id, target.group, target.conversation);
    const isThere = open === undefined || parseHandle(open.conversation.handle)?.channel === asking.channel;
    const reason = await this.#refusalOf(app, asking, isThere);
    if (reason) return this.#refuse(reason, app, asking, action_id);
    const firing = (await this.#deps.active()).filter(({ alert }) => open?.episodes.has(alert.id));
    const timezone = firing[0]?.alert.facts.timezone;
    if (timezone === undefined) return OVER;
    // A root that groups share is not edited meanwhile: its thread shows what was done.
    const announce = async (done: string) => {
      const to = { channel: asking.channel, thread_ts: asking.ts ?? "" };
      const text = `${done} by ${mrkdwn(asking.name)}.`;
      if (open?.conversation.groups !== undefined) await this.#deps.tell(app, to, text).catch(() => {});
    };
    if (action_id === "acknowledge") {
      const answer = await this.#verbs.acknowledge(firing, asking);
      if (answer === undefined) await announce("Acknowledged");
      return answer;
    }
    const about = aboutAlerts(firing);
    if (action_id === "why") return this.#verbs.why(about);
    const value = slackSilences.find((one) => one === selected_option?.value);
    if (action_id !== "silence" || value === undefined) return undefined;
    const now = this.#deps.clock.now();
    const endsAt = value === "morning" ? nextMorning(now, timezone) : now + (parseDuration(value) ?? 0);
    const { text, done } = await this.#verbs.silence(about, { endsAt, comment: "" }, asking);
    if (done) await announce(done);
    return text;
  }
}

function channelLink(channel: string): string {
  return channel.startsWith("#") ? mrkdwn(channel) : `<#${channel}>`;
}

/** A person's display name in one line; the id where Slack sends none. */
function nameOf(id: string, name: string): string {
  return clean(name) || id;
}
