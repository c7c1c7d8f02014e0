/** The channels of a configuration: one per integration, a mail transport for all of e-mail. */
import type { Integration } from "../alerting/route.ts";
import type { ChannelConfigs, ChannelEntry, ChannelType } from "../config/channel-schema.ts";
import type { Config } from "../config/config.ts";
import type { Refusal, Sender } from "../deliver/deliver.ts";
import type { DigestMail } from "../digest/mail.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { createAlertmanagerNotifier } from "../notify/alertmanager/send.ts";
import { addressOf, createEmailNotifier } from "../notify/email/send.ts";
import { createMailTransport, type MailTransport } from "../notify/email/transport.ts";
import { endpointOf, type Notifier, NotifyError, smtpUrl } from "../notify/notifier.ts";
import { createSlackNotifier } from "../notify/slack/send.ts";
import { createWebhookNotifier } from "../notify/webhook/send.ts";

const SEND_TIMEOUT_MS = 10_000;
const DIGEST_TIMEOUT_MS = 30_000;

export interface Integrations {
  readonly integrations: readonly Integration[];
  readonly byId: ReadonlyMap<string, Sender>;
  /** Undefined without `smtp`. */
  readonly digestMail: DigestMail | undefined;
  /** What a channel threw, as delivery needs it. */
  toRefusal(thrown: unknown): Refusal;
  /** Whether what was thrown may pass. */
  isPassing(thrown: unknown): boolean;
  close(): Promise<void>;
}

/** What makes an integration of this channel, but for its name. */
type Traits = Pick<Integration, "endpoint" | "paceMs" | "sendResolved" | "everyGroup" | "resendMs"> & {
  /** Of an entry that makes several integrations, whose this one is. */
  readonly recipient?: string;
};

/** Printable names of what several integrations may share. */
interface Endpoints {
  webhook(url: string): string;
  readonly smtp: string;
}

interface Tools {
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly mail: { readonly transport: MailTransport; readonly from: string } | undefined;
}

interface ChannelKind<Type extends ChannelType> {
  /** The integrations of one entry. */
  plan(entry: ChannelEntry<Type>, endpoints: Endpoints): readonly Traits[];
  open(entry: ChannelEntry<Type>, recipient: string, tools: Tools): Notifier;
}

/** Slack allows one message a second per webhook (docs.slack.dev, rate limits). */
const SLACK_PACE_MS = 1_000;
/** Mail servers slow down or turn away who sends many messages at once. */
const EMAIL_PACE_MS = 200;

/** The channels there are, an entry each; how one is written in a configuration is config/channel-schema.ts's to say. */
const kinds: { readonly [Type in ChannelType]: ChannelKind<Type> } = {
  slack: {
    plan: ({ apiUrl, sendResolved }, { webhook }) => [
      { sendResolved, endpoint: webhook(apiUrl), paceMs: SLACK_PACE_MS },
    ],
    open: ({ apiUrl }, _, { timeoutMs, log }) => createSlackNotifier({ apiUrl, timeoutMs, log }),
  },
  email: {
    plan: ({ to, sendResolved }, { smtp }) =>
      to.map((recipient) => ({ recipient, sendResolved, endpoint: smtp, paceMs: EMAIL_PACE_MS })),
    open({ to }, recipient, { timeoutMs, log, mail }) {
      if (!mail) throw new Error("email_configs without smtp passed the configuration's checks");
      return createEmailNotifier({ ...mail, to, recipient, timeoutMs, log });
    },
  },
  webhook: {
    plan: ({ url, sendResolved }, { webhook }) => [
      { sendResolved, endpoint: webhook(url), paceMs: 0, everyGroup: true },
    ],
    open: (entry, _, { timeoutMs, log }) => createWebhookNotifier({ ...entry, timeoutMs, log }),
  },
  alertmanager: {
    plan: ({ url, resendMs }, { webhook }) => [
      { sendResolved: true, endpoint: webhook(url), paceMs: 0, resendMs },
    ],
    open: (entry, _, { timeoutMs, log }) => createAlertmanagerNotifier({ ...entry, timeoutMs, log }),
  },
};
const types = Object.keys(kinds) as ChannelType[];

/** An integration and what opens its channel. */
export interface IntegrationPlan {
  readonly integration: Integration;
  open(tools: Tools): Notifier;
}

/** All integrations of a configuration, nothing opened. */
export function planIntegrations(config: Pick<Config, "receivers">, endpoints: Endpoints): IntegrationPlan[] {
  const plansOf = <Type extends ChannelType>(
    name: string,
    configs: ChannelConfigs,
    type: Type,
  ): IntegrationPlan[] => {
    const kind: ChannelKind<Type> = kinds[type];
    const entries: ChannelConfigs[Type] = configs[type];
    return entries.flatMap((entry, position) =>
      kind.plan(entry, endpoints).map(({ recipient = "", ...traits }) => {
        const id = [name, type, position, ...(recipient === "" ? [] : [recipient])].join("/");
        return {
          integration: { id, receiver: name, type, ...traits },
          open: (tools) => kind.open(entry, recipient, tools),
        };
      }),
    );
  };
  return config.receivers.flatMap((receiver) =>
    types.flatMap((type) => plansOf(receiver.name, receiver, type)),
  );
}

/** Builds every channel; nothing connects before the first message. */
export function createIntegrations(config: Config, log: Logger): Integrations {
  const { smtp } = config;
  const transport = smtp && createMailTransport(smtp, { log });
  const mail = transport && smtp && { transport, from: smtp.from };
  const plans = planIntegrations(config, {
    webhook: endpointOf,
    smtp: smtp ? endpointOf(smtpUrl(smtp)) : "",
  });
  const tools: Tools = { timeoutMs: SEND_TIMEOUT_MS, log, mail };
  const made = plans.map(({ integration, open }) => ({ integration, notifier: open(tools) }));
  return {
    integrations: plans.map(({ integration }) => integration),
    byId: new Map(
      made.map(({ integration, notifier }) => [
        integration.id,
        { integration, send: (notification, options) => notifier.send(notification, options) },
      ]),
    ),
    digestMail: mail && digestMailOf(mail.transport, mail.from),
    toRefusal,
    isPassing: (thrown) => !(thrown instanceof NotifyError) || thrown.retryable,
    async close() {
      await Promise.all([...made.map(({ notifier }) => notifier.close()), transport?.close()]);
    },
  };
}

/** A refused recipient is that integration's own trouble; anything that is no NotifyError is a fault of ours. */
function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof NotifyError) {
    const { code, retryAfterMs, scope, message } = thrown;
    return {
      code,
      retryAfterMs,
      message,
      scope: code === "recipient_refused" ? "integration" : scope,
    };
  }
  const { message } = toError(thrown);
  return { code: "other", retryAfterMs: undefined, scope: "message", message };
}

/**
 * With a URL of one's own one click ends it (RFC 8058: the program posts to it, so the header holds nothing else it
 * might take instead); without one a mail to the sender asks for it.
 */
function unsubscribeHeaders(sender: string, url: string | undefined): Record<string, string> {
  if (url === undefined) return { "List-Unsubscribe": `<mailto:${sender}?subject=unsubscribe>` };
  return { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}

function digestMailOf(transport: MailTransport, from: string): DigestMail {
  const sender = addressOf(from);
  const domain = sender.split("@")[1] ?? "localhost";
  return {
    send: ({ to, subject, html, text, messageId, unsubscribeUrl, attachments }) =>
      transport.sendMail(
        {
          from,
          to: [to],
          envelope: { from: sender, to: addressOf(to) },
          subject,
          html,
          text,
          messageId: `<${messageId}@${domain}>`,
          headers: { "Auto-Submitted": "auto-generated", ...unsubscribeHeaders(sender, unsubscribeUrl) },
          attachments,
        },
        AbortSignal.timeout(DIGEST_TIMEOUT_MS),
      ),
  };
}
