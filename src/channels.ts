/** The channels of a configuration: one per integration, a mail transport for all of e-mail. */
import type { Integration } from "./alerting/route.ts";
import type { Config } from "./config/config.ts";
import type { Channel, Refusal } from "./jobs/deliver.ts";
import type { DigestMail } from "./jobs/digest-mail.ts";
import { type IntegrationPlan, planIntegrations } from "./jobs/integrations.ts";
import { toError } from "./lib/errors.ts";
import type { Logger } from "./lib/log.ts";
import { createAlertmanagerNotifier } from "./notify/alertmanager/send.ts";
import { addressOf, createEmailNotifier } from "./notify/email/send.ts";
import { createMailTransport, type MailTransport } from "./notify/email/transport.ts";
import { endpointOf, type Notifier, NotifyError, smtpUrl } from "./notify/notifier.ts";
import { createSlackNotifier } from "./notify/slack/send.ts";
import { createWebhookNotifier } from "./notify/webhook/send.ts";

const SEND_TIMEOUT_MS = 10_000;
const DIGEST_TIMEOUT_MS = 30_000;

export interface Channels {
  readonly integrations: readonly Integration[];
  readonly byId: ReadonlyMap<string, Channel>;
  /** Undefined without `smtp`. */
  readonly digestMail: DigestMail | undefined;
  /** What a channel threw, as delivery needs it. */
  toRefusal(thrown: unknown): Refusal;
  /** Whether what was thrown may pass. */
  isPassing(thrown: unknown): boolean;
  close(): Promise<void>;
}

/** Builds every channel; nothing connects before the first message. */
export function createChannels(config: Config, log: Logger): Channels {
  const { smtp } = config;
  const transport = smtp && createMailTransport(smtp, { log });
  const plans = planIntegrations(config, {
    webhook: endpointOf,
    smtp: smtp ? endpointOf(smtpUrl(smtp)) : "",
  });
  const made = plans.map((plan) => ({ plan, notifier: notifierOf(plan, config, transport, log) }));
  return {
    integrations: plans.map(({ integration }) => integration),
    byId: new Map(
      made.map(({ plan: { integration }, notifier }) => [
        integration.id,
        { integration, send: (notification, options) => notifier.send(notification, options) },
      ]),
    ),
    digestMail: transport && smtp && digestMailOf(transport, smtp.from),
    toRefusal,
    isPassing: (thrown) => !(thrown instanceof NotifyError) || thrown.retryable,
    async close() {
      await Promise.all([...made.map(({ notifier }) => notifier.close()), transport?.close()]);
    },
  };
}

function notifierOf(
  plan: IntegrationPlan,
  config: Config,
  transport: MailTransport | undefined,
  log: Logger,
): Notifier {
  const timeoutMs = SEND_TIMEOUT_MS;
  if (plan.type === "slack") return createSlackNotifier({ apiUrl: plan.apiUrl, timeoutMs, log });
  if (plan.type === "webhook") return createWebhookNotifier({ ...plan.webhook, timeoutMs, log });
  if (plan.type === "alertmanager")
    return createAlertmanagerNotifier({ ...plan.alertmanager, timeoutMs, log });
  if (!transport || !config.smtp)
    throw new Error("email_configs without smtp passed the configuration's checks");
  const { to, recipient } = plan;
  return createEmailNotifier({ transport, from: config.smtp.from, to, recipient, timeoutMs, log });
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
