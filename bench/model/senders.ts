/** The integrations of a configuration, sending to a function instead of a network. */
import type { Notification } from "../../src/alerting/model.ts";
import type { Integration } from "../../src/alerting/route.ts";
import { planIntegrations, type Senders } from "../../src/app/integrations.ts";
import type { Config } from "../../src/config/config.ts";
import type { NotifyRefusal } from "../../src/deliver/retry-policy.ts";

/** Thrown by a sender that does not accept a message. */
export class Refused extends Error {
  readonly refusal: NotifyRefusal;

  constructor(refusal: Partial<NotifyRefusal> = {}) {
    super(refusal.message ?? "Refused.");
    this.refusal = {
      code: "server_error",
      retryAfterMs: undefined,
      scope: "endpoint",
      message: this.message,
      ...refusal,
    };
  }
}

/** Accepts a message, or throws `Refused`. */
export type Send = (integration: Integration, notification: Notification) => Promise<undefined>;

export function createModelSenders(config: Config, send: Send): Senders {
  const list = planIntegrations(config).map(({ integration }) => integration);
  return {
    list,
    byId: new Map(
      list.map((integration) => [integration.id, { integration, send: (message) => send(integration, message) }]),
    ),
    digestMail: undefined,
    toRefusal: (thrown) => (thrown instanceof Refused ? thrown.refusal : new Refused({ scope: "message" }).refusal),
    isPassing: () => true,
    close: async () => {},
  };
}
