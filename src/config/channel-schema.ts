/** The ways of telling, an entry each: how it is written in a receiver, and what the rest of the house gets of it. */
import { z } from "zod";
import { buildHttpClient, httpConfig } from "./http-client-schema.ts";
import { listOf, optional, type Parsed, required, section, withDefault } from "./key.ts";
import { duration, email, flag, integer, line, url } from "./scalars.ts";

const recipients = z
  .preprocess(
    (value) => (typeof value === "string" ? value.split(",").map((part) => part.trim()) : value),
    z.array(email, { error: "a list of e-mail addresses" }).min(1, { error: "at least one e-mail address" }),
  )
  .refine((all) => new Set(all.map((one) => one.toLowerCase())).size === all.length, {
    error: "every address once",
  });

/** The addresses a message goes to, each once. */
export const addresses: z.ZodType<string[]> = recipients;

const sendResolved = withDefault("Whether the end of what was told is told too.", flag, "true");

const slack = section({
  api_url: required(
    "The incoming webhook's URL.",
    url("an http:// or https:// URL", { schemes: ["http", "https"], query: true }),
    { secret: true },
  ),
  send_resolved: sendResolved,
});

const mail = section({
  to: required("Who gets it: one message for each address.", addresses),
  send_resolved: sendResolved,
});

const webhook = section({
  url: required(
    "Where each group is posted, as Alertmanager's webhook payload (version 4).",
    url("an http:// or https:// URL without a login", { schemes: ["http", "https"], query: true }),
    { secret: true },
  ),
  secret: optional(
    "What each message is signed with, as HMAC-SHA256 in X-Lenswatch-Signature; absent, it is not.",
    line,
    { secret: true },
  ),
  max_alerts: withDefault(
    "More alerts than this are left out of a message; 0 is all.",
    integer(0, 100_000),
    "0",
  ),
  http_config: httpConfig("the webhook"),
  send_resolved: sendResolved,
});

const alertmanager = section({
  url: required(
    "The Alertmanager that every alert is forwarded to; in a cluster, an entry for each.",
    url("an http:// or https:// URL without login, query or fragment", {
      schemes: ["http", "https"],
      base: true,
    }),
  ),
  resend_interval: withDefault(
    "How often what fires is sent to it again: it takes what is not for over.",
    duration("1s", "5m"),
    "1m",
  ),
  http_config: httpConfig("Alertmanager"),
});

/** What of a receiver each is written in. */
export const channelKeys = {
  slack_configs: withDefault("Slack channels, each by its incoming webhook.", listOf(slack.schema), [], {
    section: () => slack,
    list: true,
  }),
  email_configs: withDefault("E-mail, sent through `smtp`.", listOf(mail.schema), [], {
    section: () => mail,
    list: true,
  }),
  webhook_configs: withDefault("Webhooks, for programs.", listOf(webhook.schema), [], {
    section: () => webhook,
    list: true,
  }),
  alertmanager_configs: withDefault(
    "Alertmanagers that alerts are forwarded to.",
    listOf(alertmanager.schema),
    [],
    {
      section: () => alertmanager,
      list: true,
    },
  ),
};

type Written = Parsed<typeof channelKeys>;
type Entry<Name extends keyof Written> = Written[Name][number];

const builders = {
  slack: (slack: Entry<"slack_configs">) => ({ apiUrl: slack.api_url, sendResolved: slack.send_resolved }),
  email: (mail: Entry<"email_configs">) => ({ to: mail.to, sendResolved: mail.send_resolved }),
  webhook: (webhook: Entry<"webhook_configs">) => ({
    url: webhook.url,
    /** Signs every message; undefined: none is. */
    secret: webhook.secret,
    /** 0: all. */
    maxAlerts: webhook.max_alerts,
    http: buildHttpClient(webhook.http_config),
    sendResolved: webhook.send_resolved,
  }),
  alertmanager: (alertmanager: Entry<"alertmanager_configs">) => ({
    /** Without a trailing slash. */
    url: alertmanager.url,
    resendMs: alertmanager.resend_interval,
    http: buildHttpClient(alertmanager.http_config),
  }),
};

/** `slack`, `email` and so on: a receiver's key without `_configs`. */
export type ChannelType = keyof typeof builders;

/** An entry as loaded. */
export type ChannelEntry<Type extends ChannelType> = Readonly<ReturnType<(typeof builders)[Type]>>;

/** A receiver's entries. */
export type ChannelConfigs = { readonly [Type in ChannelType]: readonly ChannelEntry<Type>[] };

/** All entries of a receiver that passed the schema. */
export function buildChannels(written: Written): ChannelConfigs {
  return {
    slack: written.slack_configs.map(builders.slack),
    email: written.email_configs.map(builders.email),
    webhook: written.webhook_configs.map(builders.webhook),
    alertmanager: written.alertmanager_configs.map(builders.alertmanager),
  };
}
