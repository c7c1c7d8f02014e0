/** The integrations of a configuration: one per entry of a receiver and recipient, and what opens each for sending. */

import type { Integration } from "../alerting/route.ts";
import type { ChannelConfigs, ChannelEntry, ChannelType } from "../config/channel-schema.ts";
import type { Config } from "../config/config.ts";
import type { Sender } from "../deliver/model.ts";
import type { NotifyRefusal } from "../deliver/retry-policy.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { createAlertmanagerNotifier } from "../notify/alertmanager.ts";
import { createDigestMail, createEmailNotifier } from "../notify/email/send.ts";
import { createMailTransport, type MailTransport } from "../notify/email/transport.ts";
import { endpointHash, type Notifier, NotifyError } from "../notify/notifier.ts";
import { createPagerDutyNotifier } from "../notify/pagerduty.ts";
import { createSlackAppNotifier } from "../notify/slack/app.ts";
import { createSlackNotifier } from "../notify/slack/send.ts";
import { createTeamsNotifier } from "../notify/teams.ts";
import { createWebhookNotifier } from "../notify/webhook.ts";
import type { Recipients } from "./directory.ts";

const SEND_TIMEOUT_MS = 10_000;

/** Integrations, opened. */
export type Senders = ReturnType<typeof createSenders>;

type Traits = Omit<Integration, "id" | "name" | "receiver" | "type">;

type Tools = Readonly<{ log: Logger; mail: { readonly transport: MailTransport; readonly from: string } | undefined }>;

interface ChannelKind<Type extends ChannelType> {
  /** The integrations of one entry; `mailServer`: the endpoint of mails; `directory`: the addresses in its columns. */
  plan(entry: ChannelEntry<Type>, mailServer: string, directory: Recipients): readonly Traits[];
  open(entry: ChannelEntry<Type>, recipient: string, tools: Tools): Notifier;
}

/** Slack allows one message a second per webhook, and per channel of an app (docs.slack.dev, rate limits). */
const SLACK_PACE_MS = 1_000;
/** Mail servers throttle or refuse senders of many messages at once. */
const MAIL = { paceMs: 200, conversation: "threads" } as const;

/** A key is throttled beyond some hundred events a minute; most sends make none. */
const PAGERDUTY_PACE_MS = 100;
/** Teams throttles a webhook beyond four messages a second (learn.microsoft.com, "Rate limiting for connectors"). */
const TEAMS_PACE_MS = 250;

const kinds: { readonly [Type in ChannelType]: ChannelKind<Type> } = {
  slack: {
    plan({ apiUrl, app, sendResolved }) {
      if (!app) return [{ sendResolved, endpoint: endpointHash(apiUrl), paceMs: SLACK_PACE_MS }];
      const endpoint = endpointHash(`${app.apiBase}/${app.botToken}`);
      return [{ sendResolved, endpoint, channel: app.channel, paceMs: SLACK_PACE_MS, conversation: "edits" }];
    },
    open: ({ apiUrl, app }, _, { log }) =>
      app
        ? createSlackAppNotifier({ app, timeoutMs: SEND_TIMEOUT_MS, log })
        : createSlackNotifier({ apiUrl, timeoutMs: SEND_TIMEOUT_MS, log }),
  },
  email: {
    plan({ to, columns, sendResolved }, endpoint, directory) {
      const traits = { ...MAIL, sendResolved, endpoint };
      const named = new Set(to.map((one) => one.toLowerCase()));
      const byColumn = [...directory].flatMap(([recipient, all]): Traits[] => {
        const own = all.filter((one) => columns.includes(one));
        return own.length === 0 || named.has(recipient) ? [] : [{ recipient, columns: own, ...traits }];
      });
      return [...to.map((recipient) => ({ recipient, ...traits })), ...byColumn];
    },
    open({ to: all }, recipient, { log, mail }) {
      // Those of a directory do not see each other.
      const to = all.includes(recipient) ? all : [recipient];
      if (!mail) throw new Error("email_configs without smtp passed the configuration's checks");
      return createEmailNotifier({ ...mail, to, recipient, timeoutMs: SEND_TIMEOUT_MS, log });
    },
  },
  webhook: {
    plan: ({ url, sendResolved }) => [{ sendResolved, endpoint: endpointHash(url), paceMs: 0, everyGroup: true }],
    open: (entry, _, { log }) => createWebhookNotifier({ ...entry, timeoutMs: SEND_TIMEOUT_MS, log }),
  },
  pagerduty: {
    plan: ({ url, routingKey, sendResolved }) => [
      {
        sendResolved,
        endpoint: endpointHash(`${url}/${routingKey}`),
        paceMs: PAGERDUTY_PACE_MS,
        conversation: "edits",
        isPager: true,
      },
    ],
    open: (entry, _, { log }) => createPagerDutyNotifier({ ...entry, timeoutMs: SEND_TIMEOUT_MS, log }),
  },
  msteamsv2: {
    plan: ({ webhookUrl, sendResolved }) => [
      { sendResolved, endpoint: endpointHash(webhookUrl), paceMs: TEAMS_PACE_MS },
    ],
    open: (entry, _, { log }) => createTeamsNotifier({ ...entry, timeoutMs: SEND_TIMEOUT_MS, log }),
  },
  alertmanager: {
    plan: ({ url, resendMs }) => [{ sendResolved: true, endpoint: endpointHash(url), paceMs: 0, resendMs }],
    open: (entry, _, { log }) => createAlertmanagerNotifier({ ...entry, timeoutMs: SEND_TIMEOUT_MS, log }),
  },
};
const types = Object.keys(kinds) as ChannelType[];

type IntegrationPlan = { readonly integration: Integration; open(tools: Tools): Notifier };

/** All integrations of a configuration, nothing opened; `identify` gives those at work their ids. */
export function planIntegrations(
  { receivers, smtp }: Pick<Config, "receivers" | "smtp">,
  directory: Recipients = new Map(),
): IntegrationPlan[] {
  const mailServer = smtp ? endpointHash(`smtp://${smtp.host.toLowerCase()}:${smtp.port}`) : "";
  const plansOf = <Type extends ChannelType>(name: string, configs: ChannelConfigs, type: Type): IntegrationPlan[] => {
    const kind: ChannelKind<Type> = kinds[type];
    const entries: ChannelConfigs[Type] = configs[type];
    return entries.flatMap((entry, position) =>
      kind.plan(entry, mailServer, directory).map((traits) => {
        const { recipient } = traits;
        const id = [name, type, position, ...(recipient === undefined ? [] : [recipient])].join("/");
        const integration = { id, name: id, receiver: name, type, ...traits };
        return { integration, open: (tools) => kind.open(entry, recipient ?? "", tools) };
      }),
    );
  };
  return receivers.flatMap((receiver) => types.flatMap((type) => plansOf(receiver.name, receiver, type)));
}

/** Opens every integration; nothing connects before the first message. */
export function createSenders(config: Config, log: Logger, directory?: Recipients) {
  const { smtp } = config;
  const transport = smtp && createMailTransport(smtp, { log });
  const mail = transport && smtp && { transport, from: smtp.from };
  const plans = planIntegrations(config, directory);
  const made = plans.map(({ integration, open }) => ({ integration, notifier: open({ log, mail }) }));
  const senders = made.map(({ integration, notifier }): Sender => ({ integration, ...notifier }));
  return {
    list: plans.map(({ integration }) => integration),
    byId: new Map(senders.map((sender) => [sender.integration.id, sender])),
    /** Undefined without `smtp`. */
    digestMail: mail && createDigestMail(mail.transport, mail.from),
    toRefusal,
    /** Says whether a later try may succeed. */
    isPassing: (thrown: unknown) => !(thrown instanceof NotifyError) || thrown.retryable,
    async close(): Promise<void> {
      await Promise.all([...made.map(({ notifier }) => notifier.close()), transport?.close()]);
    },
  };
}

/** Codes of Node, undici and nodemailer for a connection that was never made. */
const UNCONNECTED: ReadonlySet<unknown> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT", "EDNS"],
]);

function isUnconnected(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return UNCONNECTED.has((thrown as { readonly code?: unknown }).code) || isUnconnected(thrown.cause);
}

/** A refused recipient concerns that integration alone; anything but a NotifyError is a fault of ours. */
function toRefusal(thrown: unknown): NotifyRefusal {
  if (thrown instanceof NotifyError) {
    const { code, retryAfterMs, scope, message } = thrown;
    const isUnsent = isUnconnected(thrown.cause);
    return { code, retryAfterMs, message, isUnsent, scope: code === "recipient_refused" ? "integration" : scope };
  }
  const { message } = toError(thrown);
  return { code: "other", retryAfterMs: undefined, scope: "message", message };
}
