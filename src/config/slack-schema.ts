/** `slack_configs`: an incoming webhook, or the Slack app with a bot token. */
import { z } from "zod";
import { type Loaded, listOf, optional, type Parsed, refuse, required, section, withDefault } from "./key.ts";
import { line, resourceUrl, textMatching, trueOrFalse } from "./scalars.ts";

const token = (kind: string, prefix: string) =>
  textMatching(
    `${kind}: ${prefix} and at least 10 letters, digits or hyphens`,
    new RegExp(`^${prefix}[A-Za-z0-9-]{10,500}$`),
  );

const mention = section({
  severity: required("The value of the label `severity`.", line),
  who: required(
    "Whom: a user group, a person, or everybody in the channel.",
    textMatching(
      "<!subteam^S0123ABCD>, <@U0123ABCD>, <!here> or <!channel>",
      /^<(?:!subteam\^S[A-Z0-9]{2,30}|@[UW][A-Z0-9]{2,30}|!here|!channel)>$/,
    ),
  ),
});

const allow = z.preprocess(
  (value) => (value === "channel" ? [value] : value),
  z
    .array(z.string().regex(/^(?:channel|[UW][A-Z0-9]{2,30})$/, { error: "a user id such as U0123ABCD" }), {
      error: "channel, or a list of user ids",
    })
    .min(1, { error: "channel, or at least one user id" })
    .refine((list) => list.length === 1 || !list.includes("channel"), { error: "channel, or a list of user ids" })
    .transform((list) => (list[0] === "channel" ? ("channel" as const) : list)),
);

const keys = {
  api_url: optional("The incoming webhook's URL.", resourceUrl(), { secret: true }),
  bot_token: optional("Instead of `api_url`: the bot token of the Slack app.", token("a bot token", "xoxb-"), {
    secret: true,
  }),
  channel: optional(
    "The channel of the Slack app: its id, or #name.",
    textMatching("a channel such as #ops-cameras or C0123ABCD", /^(?:[CG][A-Z0-9]{2,30}|#[^\s#A-Z,<>]{1,80})$/),
  ),
  app_token: optional("The app token: buttons.", token("an app token", "xapp-"), { secret: true }),
  mention: withDefault("Whom news of a severity mentions.", listOf(mention), []),
  actions: optional(
    "Buttons; needs `app_token`.",
    section({
      allow: withDefault("Those who may press them: channel (its members), or a list of user ids.", allow, "channel"),
    }),
  ),
  send_resolved: withDefault("Whether to notify about resolved alerts.", trueOrFalse, "true"),
};

export const slackSection = section(keys, checkWay);

/** Exactly one way, and no key that has no effect there. */
function checkWay(value: Parsed<typeof keys>, context: z.RefinementCtx): void {
  const { api_url, bot_token, channel, app_token, mention: mentions, actions } = value;
  if (api_url === undefined && bot_token === undefined)
    refuse(context, "api_url", "an api_url, or a bot_token with a channel");
  if (api_url !== undefined && bot_token !== undefined)
    refuse(context, "bot_token", "only one of api_url and bot_token");
  if (bot_token !== undefined && channel === undefined)
    refuse(context, "channel", "the channel to post to, beside bot_token");
  const ofApp = { channel, app_token, mention: mentions.length > 0 ? mentions : undefined, actions };
  for (const [name, given] of Object.entries(ofApp)) {
    if (given !== undefined && bot_token === undefined)
      refuse(context, name, "a bot_token beside it; a webhook has none of these");
  }
  if (actions !== undefined && app_token === undefined) refuse(context, "actions", "an app_token beside it");
}

/** Exactly one of an incoming webhook's URL and the Slack app; `apiBase`: the Web API, without a trailing slash. */
export function buildSlack(entry: Loaded<typeof keys>, apiBase: string) {
  const { apiUrl = "", botToken, channel = "", appToken, mention: mentions, actions, sendResolved } = entry;
  if (botToken === undefined) return { sendResolved, apiUrl };
  /** The people who may press buttons; undefined: there are none. */
  const allowed = appToken === undefined ? undefined : (actions ?? { allow: "channel" as const });
  return { sendResolved, app: { apiBase, botToken, appToken, channel, mention: mentions, actions: allowed } };
}

export type SlackAppSettings = NonNullable<ReturnType<typeof buildSlack>["app"]>;
