/** `receivers`: integrations by kind of channel, their keys and their loaded form. */
import { z } from "zod";
import { column } from "./directory-schema.ts";
import { httpConfig, withHttp } from "./http-client-schema.ts";
import { type Loaded, listOf, optional, required, section, withDefault } from "./key.ts";
import { duration, email, integer, line, name, resourceUrl, token, trueOrFalse, webUrl } from "./scalars.ts";
import { buildSlack, slackSection } from "./slack-schema.ts";

const listed = (value: unknown) => (typeof value === "string" ? value.split(",").map((part) => part.trim()) : value);

const isEachOnce = (all: readonly string[]) => new Set(all.map((one) => one.toLowerCase())).size === all.length;

/** E-mail addresses, each once; a single text may list several with commas. */
export const emailAddresses: z.ZodType<string[]> = z
  .preprocess(
    listed,
    z.array(email, { error: "a list of e-mail addresses" }).min(1, { error: "at least one e-mail address" }),
  )
  .refine(isEachOnce, { error: "every address once" });

const byColumn = section({ directory: required("A column of the directory: each location's own recipients.", column) });

const anAddress = "one e-mail address such as ops@example.com, or { directory: COLUMN }";

/** Addresses, and columns of the directory that have some. */
const recipients = z
  .preprocess(
    listed,
    z
      .array(z.union([email, byColumn.schema], { error: anAddress }), {
        error: "a list of e-mail addresses, or { directory: COLUMN }",
      })
      .min(1, { error: "at least one e-mail address" }),
  )
  .transform((all) => ({
    addresses: all.filter((one) => typeof one === "string"),
    columns: all.flatMap((one) => (typeof one === "string" ? [] : one.directory)),
  }))
  .refine(({ addresses }) => isEachOnce(addresses), { error: "every address once" });

const sendResolved = withDefault("Whether to notify about resolved alerts.", trueOrFalse, "true");

const mail = section({
  to: required(
    "The recipients; each gets its own message. { directory: COLUMN } stands for those of each location.",
    recipients,
  ),
  send_resolved: sendResolved,
});

const webhook = section({
  url: required(
    "The URL each group is posted to, as Alertmanager's webhook payload (version 4).",
    resourceUrl(" without a login"),
    { secret: true },
  ),
  secret: optional(
    "Signs each message with HMAC-SHA256 in X-Lenswatch-Signature; without it, messages are not signed.",
    line,
    { secret: true },
  ),
  max_alerts: withDefault("The most alerts in a message; 0 is no limit.", integer(0, 100_000), "0"),
  http_config: httpConfig("the webhook"),
  send_resolved: sendResolved,
});

const alertmanager = section({
  url: required("The Alertmanager to forward every alert to; for a cluster, one entry each.", webUrl),
  resend_interval: withDefault(
    "How often firing alerts are sent again; Alertmanager resolves those it does not receive.",
    duration("1s", "5m"),
    "1m",
  ),
  http_config: httpConfig("Alertmanager"),
});

const pagerduty = section({
  routing_key: required("The integration key of a PagerDuty service with Events API v2.", token, { secret: true }),
  url: withDefault("Where events are sent.", webUrl, "https://events.pagerduty.com/v2/enqueue"),
  http_config: httpConfig("PagerDuty"),
  send_resolved: withDefault("Whether an incident is resolved when its last alert is.", trueOrFalse, "true"),
});

const teams = section({
  webhook_url: required("The URL of a Teams workflow that posts what it receives.", resourceUrl(), { secret: true }),
  http_config: httpConfig("the workflow"),
  send_resolved: sendResolved,
});

const channelKeys = {
  slack_configs: withDefault(
    "Slack channels, each by an incoming webhook or by the Slack app.",
    listOf(slackSection),
    [],
  ),
  email_configs: withDefault("E-mail, sent through `smtp`.", listOf(mail), []),
  webhook_configs: withDefault("Webhooks.", listOf(webhook), []),
  pagerduty_configs: withDefault("PagerDuty services; a group that fires is an incident.", listOf(pagerduty), []),
  msteamsv2_configs: withDefault("Microsoft Teams channels, each by a workflow.", listOf(teams), []),
  alertmanager_configs: withDefault("Alertmanagers to forward alerts to.", listOf(alertmanager), []),
};

export const receiverSection = section({ name: required("The receiver's name, for routes.", name), ...channelKeys });

/** The entries of a receiver by channel. */
export function buildChannels(entries: Loaded<typeof channelKeys>, slackApiUrl: string) {
  return {
    slack: entries.slackConfigs.map((entry) => buildSlack(entry, slackApiUrl)),
    email: entries.emailConfigs.map(({ to: { addresses: to, columns }, ...entry }) => ({ ...entry, to, columns })),
    webhook: entries.webhookConfigs.map(withHttp),
    pagerduty: entries.pagerdutyConfigs.map(withHttp),
    msteamsv2: entries.msteamsv2Configs.map(withHttp),
    alertmanager: entries.alertmanagerConfigs.map(({ resendIntervalMs: resendMs, ...entry }) => {
      return { ...withHttp(entry), resendMs };
    }),
  };
}

type Channels = ReturnType<typeof buildChannels>;
/** `slack`, `email` and so on: a receiver's key without `_configs`. */
export type ChannelType = keyof Channels;
/** An entry as loaded. */
export type ChannelEntry<Type extends ChannelType> = Channels[Type][number];
export type ChannelConfigs = { readonly [Type in ChannelType]: readonly ChannelEntry<Type>[] };
