/**
 * Presses and commands of Slack: the person, whether it is allowed, and what it is about. Any replica may get one, and get
 * it again; `slack-verbs.ts` makes each change once. The answer is for the person alone.
 */
import { neededOf } from "../alerting/attention.ts";
import type { RefusalReason } from "../alerting/audit.ts";
import { causesIn } from "../alerting/clusters.ts";
import { readClusters } from "../alerting/group-sizes.ts";
import type { SlackAppSettings } from "../config/slack-schema.ts";
import { locationsOf, rowsAt, statusOf } from "../health/fleet-locations.ts";
import { type FleetSnapshot, ROWS_PER_STEP } from "../health/shard-state.ts";
import { nextMorning } from "../http/page/silence-request.ts";
import { knownZone } from "../http/page/when.ts";
import { withDeadline } from "../lib/closer.ts";
import { parseDuration } from "../lib/duration.ts";
import { runYielding } from "../lib/yield.ts";
import { clean } from "../notify/name.ts";
import { parseBlockId, slackIntegrationHash, slackSilences } from "../notify/slack/action-id.ts";
import { type PlaceRow, placeText, statusText } from "../notify/slack/answers.ts";
import { type Place, readCommand, type SlackRequest, slackHelp } from "../notify/slack/command.ts";
import { type SlackCommand, type SlackEnvelope, SlackPress, slackFailed } from "../notify/slack/envelope.ts";
import { parseHandle } from "../notify/slack/handle.ts";
import { mrkdwn } from "../notify/slack/mrkdwn.ts";
import type { Store } from "../store/store.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { aboutAlerts, aboutPlace, type Person, SlackVerbs, type SlackVerbsDeps } from "./slack-verbs.ts";

/** An integration whose buttons and commands come over one socket. */
export interface SlackIntegration {
  readonly id: string;
  readonly app: SlackAppSettings;
}

interface SlackActionsDeps extends SlackVerbsDeps {
  readonly integrations: readonly SlackIntegration[];
  readonly store: SlackVerbsDeps["store"] & Pick<Store, "conversations">;
  readonly audit: Pick<AuditTrail, "record">;
  fleet(): Promise<FleetSnapshot>;
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

  /** Acts on what Slack sent for the app `appId`; gives the answer to a command. */
  async act(envelope: SlackEnvelope, appId: string | undefined): Promise<string | undefined> {
    if (envelope.type === "slash_commands") return withDeadline(this.#command(envelope.payload, appId), ACT_MS);
    const press = SlackPress.safeParse(envelope.payload).data;
    if (press) await this.#pressed(press, appId);
    return undefined;
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

  async #command(typed: SlackCommand, appId: string | undefined): Promise<string | undefined> {
    const { user_id: id, team_id: team, channel_id: channel, channel_name, api_app_id } = typed;
    const asking = { id, name: nameOf(id, typed.user_name), team, channel, isOurApp: api_app_id === appId };
    const here = this.#deps.integrations.filter(({ app }) => [channel, `#${channel_name}`].includes(app.channel));
    const { app } = here[0] ?? this.#deps.integrations[0] ?? {};
    if (!app) return undefined;
    const stranger = await this.#refusalOf(app, asking, here.length > 0, true);
    if (stranger) return this.#refuse(stranger, app, asking, "command");
    const fleet = await this.#deps.fleet();
    const request = await runYielding(readCommand(typed.text, await runYielding(placesOf(fleet))));
    if ("problem" in request) return request.problem;
    if (request.verb === "silence") {
      const refused = await Promise.all(here.map((one) => this.#refusalOf(one.app, asking, true)));
      const [reason] = refused.includes(undefined) ? [] : refused;
      if (reason) return this.#refuse(reason, app, asking, request.verb);
    }
    return this.#run(request, asking, fleet);
  }

  async #run(request: SlackRequest, asking: Person, fleet: FleetSnapshot): Promise<string> {
    if (request.verb === "help") return slackHelp;
    const active = await this.#deps.active();
    const now = this.#deps.clock.now();
    if (request.place === undefined) {
      const needed = neededOf(active);
      const { clusters } = await runYielding(readClusters(needed, fleet));
      return statusText(active, causesIn(clusters, needed), now);
    }
    const { place } = request;
    const about = aboutPlace(place);
    const firing = active.filter(({ alert: { labels } }) => labels[`${place.kind}_id`] === place.id);
    switch (request.verb) {
      case "status":
        return placeText(place, await runYielding(recordingsAt(fleet, place)), firing, now);
      case "why":
        return this.#verbs.why({ ...about, subjects: [...about.subjects, ...aboutAlerts(firing).subjects] });
      case "silence":
        return (await this.#verbs.silence(about, { ...request, endsAt: now + request.forMs }, asking)).text;
    }
  }
}

function channelLink(channel: string): string {
  return channel.startsWith("#") ? mrkdwn(channel) : `<#${channel}>`;
}

/** A person's display name in one line; the id where Slack sends none. */
function nameOf(id: string, name: string): string {
  return clean(name) || id;
}

function* placesOf(fleet: FleetSnapshot): Generator<void, Place[]> {
  const { inventory } = fleet;
  const locations = new Map<string, Place>();
  const recordings: Place[] = [];
  for (const { id, locationId } of rowsAt((yield* locationsOf(fleet)).values())) {
    if (recordings.length % ROWS_PER_STEP === 0) yield;
    const [recording, location] = [inventory.recording(id), inventory.location(locationId)];
    const timezone = knownZone(recording?.timezone, location?.timezone);
    const at = location?.name || locationId;
    recordings.push({ kind: "recording", id, name: recording?.name || id, at, timezone });
    if (!locations.has(locationId))
      locations.set(locationId, { kind: "location", id: locationId, name: at, at, timezone });
  }
  return [...locations.values(), ...recordings];
}

function* recordingsAt(fleet: FleetSnapshot, { id: wanted }: Place): Generator<void, PlaceRow[]> {
  const all = yield* locationsOf(fleet);
  const location = all.get(wanted);
  const here: PlaceRow[] = [];
  let rows = 0;
  for (const row of rowsAt(location ? [location] : all.values())) {
    if (++rows % ROWS_PER_STEP === 0) yield;
    const { id, locationId } = row;
    if (id !== wanted && locationId !== wanted) continue;
    const since = row.rows.states.since(row.place);
    here.push({ name: fleet.inventory.recording(id)?.name || id, status: statusOf(row, fleet), since });
  }
  return here;
}
