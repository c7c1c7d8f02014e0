/** `receivers`: the ways of telling, each entry an integration of its own. */
import { z } from "zod";
import { httpConfig } from "./http-client-schema.ts";
import { listOf, optional, required, section, withDefault } from "./key.ts";
import { duration, email, flag, integer, line, name, url } from "./leaf.ts";

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

const receiver = section({
  name: required("What routes call it.", name),
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
});

export const receiverSection: typeof receiver = receiver;
export type ReceiverInput = z.output<typeof receiver.schema>;
