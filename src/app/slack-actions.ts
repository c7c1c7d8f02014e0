/**
 * Presses of Slack: the person, whether it is allowed, and what it is about. Any replica may get one, and get
 * it again; `slack-verbs.ts` makes each change once. The answer is for the person alone.
 */
import type { Audit, RefusalReason } from "../alerting/audit.ts";
import type { SlackAppSettings } from "../config/slack-schema.ts";
import { SilenceFields, spanOf } from "../http/page/silence-request.ts";
import { withDeadline } from "../lib/closer.ts";
import { clean } from "../notify/name.ts";
import { NotifyError } from "../notify/notifier.ts";
import { silenceScope, silenceScopes } from "../notify/silence-scope.ts";
import { parseBlockId, silenceScopeOf, slackIntegrationHash } from "../notify/slack/action-id.ts";
import { type ActionsBlock, type InputBlock, silenceForm } from "../notify/slack/actions.ts";
import { type SlackEnvelope, SlackPress, slackFailed } from "../notify/slack/envelope.ts";
import { parseHandle } from "../notify/slack/handle.ts";
import { link, mrkdwn } from "../notify/slack/mrkdwn.ts";
import type { Store } from "../store/store.ts";
import { type Answer, type Person, SlackVerbs, type SlackVerbsDeps } from "./slack-verbs.ts";

/** An integration whose buttons come over one socket. */
export interface SlackIntegration {
  readonly id: string;
  readonly app: SlackAppSettings;
}

interface SlackActionsDeps extends SlackVerbsDeps {
  readonly integrations: readonly SlackIntegration[];
  readonly store: SlackVerbsDeps["store"] & Pick<Store, "conversations">;
  readonly audit: Audit;
  /** The id of the workspace that the bot token is of. */
  teamOf(app: SlackAppSettings): Promise<string>;
  /** Says whether somebody is in a channel. Throws NotifyError, with what to do where that may not be asked. */
  isMember(app: SlackAppSettings, channel: string, user: string): Promise<boolean>;
  /** Shows a text, and what is below it, to one person or, without a user, to everybody, in a thread. */
  tell(app: SlackAppSettings, to: Addressee, text: string, below?: readonly AnswerBlock[]): Promise<void>;
}

export type AnswerBlock = ActionsBlock | InputBlock;
export type Addressee = { readonly channel: string } & ({ readonly user: string } | { readonly thread_ts: string });

interface Asking extends Person {
  readonly team: string;
  readonly isOurApp: boolean;
  readonly channel: string;
  /** The message that was pressed. */
  readonly ts: string;
}

type Target = NonNullable<ReturnType<typeof parseBlockId>>;
type Open = NonNullable<Awaited<ReturnType<Store["conversations"]["open"]>>>;

/** Redis may be away, and what was asked then takes effect later. */
const ACT_MS = 15_000;

const OVER = "This is over: nothing in it fires any more. Nothing was changed.";
const OVER_HERE =
  "What this message showed does not fire any more; what began later is in messages of its own. Nothing was changed.";
/** Its conversation may be over, or of a Redis that was emptied since. */
const UNKNOWN = "lenswatch does not know this message any more. Nothing was changed.";
const ASKING = "Silence until when, and why?";
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

  /**
   * Why somebody may not do this: it is for people of the workspace in the channel or, where a list says who may change
   * something, for those. A sentence where nobody can be known to be in the channel.
   */
  async #refusalOf(
    app: SlackAppSettings,
    asking: Asking,
    { isThere, onlyReads }: { readonly isThere: boolean; readonly onlyReads: boolean },
  ): Promise<{ readonly reason: RefusalReason; readonly why?: string } | undefined> {
    if (!isThere || !asking.isOurApp || asking.team !== (await this.#deps.teamOf(app)))
      return { reason: "other_channel" };
    const { allow } = app.actions ?? { allow: [] };
    if (allow !== "channel" && allow.includes(asking.id)) return undefined;
    if (allow !== "channel" && !onlyReads) return { reason: "not_allowed" };
    try {
      const isMember = await this.#deps.isMember(app, asking.channel, asking.id);
      return isMember ? undefined : { reason: "other_channel" };
    } catch (thrown) {
      if (!(thrown instanceof NotifyError) || (thrown.code !== "auth" && thrown.code !== "not_found")) throw thrown;
      return { reason: "not_allowed", why: `The members of this channel cannot be read: ${mrkdwn(thrown.message)}` };
    }
  }

  #refuse(
    { reason, why }: { readonly reason: RefusalReason; readonly why?: string },
    app: SlackAppSettings,
    { id, name }: Person,
    asked: string,
  ): string {
    const actor = { via: "slack", name: id, person: name } as const;
    this.#deps.audit({ actor, action: "refused", outcome: "refused", target: `Slack: ${asked}`, reason });
    if (why !== undefined) return `${why} Nothing was changed.`;
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
    const [{ block_id, action_id }] = actions;
    const target = parseBlockId(block_id);
    if (!target || ["runbook", "open"].includes(action_id)) return;
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
      const answer = own ? await withDeadline(this.#answerTo(own, target, asking, press), ACT_MS) : { text: GONE };
      const { text = "", inputs = [], buttons = [] } = answer ?? {};
      const elements = [...buttons];
      const below = elements.length > 0 ? [{ type: "actions", block_id, elements } as const] : [];
      if (text !== "") await this.#deps.tell(app, to, text, [...inputs, ...below]);
    } catch (thrown) {
      await this.#deps.tell(app, to, slackFailed).catch(() => {});
      throw thrown;
    }
  }

  async #answerTo(
    { id, app }: SlackIntegration,
    target: Target,
    asking: Asking,
    press: SlackPress,
  ): Promise<Answer | undefined> {
    const [{ action_id }] = press.actions;
    const open = await this.#deps.store.conversations.open(id, target);
    const handle = parseHandle(open?.handle);
    const isThere = handle === undefined || handle.channel === asking.channel;
    const onlyReads = action_id === "why";
    const refusal = await this.#refusalOf(app, asking, { isThere, onlyReads });
    if (refusal) return { text: this.#refuse(refusal, app, asking, action_id) };
    const answer = await this.#do(press, open, target, asking);
    // A root that groups share is not edited meanwhile: its thread shows what was done.
    if (answer?.done && open?.isShared) {
      const to = { channel: asking.channel, thread_ts: handle?.ts ?? asking.ts };
      await this.#deps.tell(app, to, `${answer.done} by ${mrkdwn(asking.name)}.`).catch(() => {});
    }
    return answer;
  }

  async #do(
    { actions: [{ action_id, value }], state }: SlackPress,
    open: Open | undefined,
    { seen }: Target,
    person: Person,
  ): Promise<Answer | undefined> {
    if (action_id === "undo") {
      const [at = "", ...ids] = (value ?? "").split(" ");
      return this.#verbs.undo(ids, Number.parseInt(at, 36), person);
    }
    if (!open || open.episodes.size === 0) return { text: `${UNKNOWN} ${this.#present()}` };
    const firing = (await this.#deps.active()).filter(({ alert }) => open.episodes.has(alert.id));
    if (firing.length === 0) return { text: OVER };
    if (action_id === "acknowledge") return this.#verbs.acknowledge(firing, person);
    if (action_id === "undo.acknowledgement")
      return this.#verbs.undoAck(firing, Number.parseInt(value ?? "", 36), person);
    if (action_id === "why") return { text: await this.#verbs.why(firing) };
    if (action_id === "extend" || action_id === "extend.morning") {
      const [until = "", ...ids] = (value ?? "").split(" ");
      const shown = new Set(firing.flatMap(({ silencedBy }) => silencedBy));
      const silences = ids.filter((one) => shown.has(one));
      return this.#verbs.extend(silences, Number.parseInt(until, 36), firing[0]?.alert.facts.timezone ?? "UTC", person);
    }
    // What fired later was not on the message.
    const alerts = firing.map(({ alert }) => alert).filter(({ firedAt }) => firedAt <= seen);
    const [first] = alerts;
    if (!first) return { text: OVER_HERE };
    const { timezone } = first.facts;
    const key = silenceScopeOf(action_id);
    const scopes = silenceScopes(alerts);
    if (scopes.length === 0)
      return { text: `That would take too many silences: set one on the page. ${this.#present()}` };
    if (action_id === "silence") return { text: ASKING, ...silenceForm(scopes, this.#verbs.times().zoneFor(timezone)) };
    const scope = key && silenceScope(key, alerts);
    const span = this.#spanOf(state?.values, timezone);
    if (!scope || typeof span === "string") return scope && { text: `Not silenced: ${span}.` };
    return this.#verbs.silence(scope, { ...span, timezone }, person);
  }

  /** The end and the reason as they were typed, or what is expected instead. */
  #spanOf(typed: NonNullable<SlackPress["state"]>["values"] | undefined, timezone: string) {
    const ends = typed?.until?.text.value?.trim() || "1h";
    const zone = this.#verbs.times().zoneFor(timezone);
    const span = spanOf({ lasting: "dates", custom: "", starts: "", ends }, this.#deps.clock.now(), zone);
    const reason = SilenceFields.shape.comment.safeParse(typed?.reason?.text.value ?? "");
    if (!reason.success) return reason.error.issues.map(({ message }) => message).join();
    return "message" in span ? span.message : { ...span, comment: reason.data };
  }

  #present(): string {
    const { externalUrl } = this.#deps;
    if (externalUrl === undefined) return "`lenswatch status` prints what fires now.";
    return `What fires now: ${link({ label: "status page", url: `${externalUrl}/` })}.`;
  }
}

function channelLink(channel: string): string {
  return channel.startsWith("#") ? mrkdwn(channel) : `<#${channel}>`;
}

/** A person's display name in one line; the id where Slack sends none. */
function nameOf(id: string, name: string): string {
  return clean(name) || id;
}
