/** What every endpoint accepted, message by message, and what is wrong with it at once. */
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import type { Integration } from "../../src/alerting/route.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { Readings } from "./readings.ts";

export interface Word {
  readonly at: Instant;
  /** The channel, its endpoint and recipient: what a person sees, wherever the configuration has it. */
  readonly endpoint: string;
  readonly integration: string;
  readonly says: "firing" | "resolved";
  readonly reason: string;
  readonly alert: NotifiedAlert;
}

export interface Failure {
  readonly invariant: "convergence" | "account";
  /** One line. */
  readonly what: string;
  /** The alert's name and subject: what the events to print are about. */
  readonly subject: { readonly kind: string; readonly id: string };
  readonly key: string;
}

export function endpointOf({ type, endpoint, recipient }: Integration): string {
  return `${type} ${recipient || endpoint}`;
}

export class Account {
  readonly words: Word[] = [];
  readonly failures: Failure[] = [];
  readonly #readings: Readings;
  readonly #last = new Map<string, Word>();
  readonly #endpointOf = new Map<string, string>();

  constructor(readings: Readings) {
    this.#readings = readings;
  }

  /** The last word about an episode at an endpoint. */
  last(endpoint: string, episode: string): Word | undefined {
    return this.#last.get(`${endpoint}\n${episode}`);
  }

  /** Of every episode at an endpoint. */
  lastWords(endpoint: string): Word[] {
    return this.#last
      .values()
      .toArray()
      .filter((word) => word.endpoint === endpoint);
  }

  accept(integration: Integration, message: Notification): void {
    const endpoint = endpointOf(integration);
    this.#follow(message.integrationId, endpoint);
    const { reason, firing, resolved, now } = message;
    const before = new Map([...firing, ...resolved].map(({ id }) => [id, this.last(endpoint, id)?.says]));
    const isRepetition = reason === "reminder" || reason === "resend";
    for (const alert of firing) {
      const known = before.get(alert.id);
      if (alert.isNew && known === "firing") this.#fail(alert, `${endpoint} is told twice that it fires (${reason})`);
      if (!isNews(alert) && known !== "firing") this.#fail(alert, `${endpoint} is reminded of what it was not told`);
      const unread = this.#readings.unread(alert, now);
      if (unread) this.#fail(alert, `${endpoint} is sent "${reason}", ${unread}`);
    }
    if (!isRepetition && reason !== "started" && resolved.length === 0 && !firing.some(isNews))
      for (const alert of firing) this.#fail(alert, `${endpoint} gets a message without news (${reason})`);
    for (const alert of resolved) {
      if (alert.isAgain) continue;
      const known = before.get(alert.id);
      if (known === "resolved") this.#fail(alert, `${endpoint} is told twice that it ended (${alert.endReason})`);
      if (known === undefined && !alert.isNew) this.#fail(alert, `${endpoint} gets the end of what it was not told`);
      const untrue = this.#readings.untrueEnd(alert);
      if (untrue) this.#fail(alert, `${endpoint} is told that it recovered, ${untrue}`);
    }
    for (const [says, alerts] of [["firing", firing] as const, ["resolved", resolved] as const])
      for (const alert of alerts) {
        const word = { at: now, endpoint, integration: message.integrationId, says, reason, alert };
        this.words.push(word);
        this.#last.set(`${endpoint}\n${alert.id}`, word);
      }
  }

  /** An entry in the same place whose URL changed is the same integration: its new endpoint goes on from the old one. */
  #follow(integration: string, endpoint: string): void {
    const before = this.#endpointOf.get(integration) ?? endpoint;
    this.#endpointOf.set(integration, endpoint);
    if (before === endpoint || this.#endpointOf.values().some((other) => other === before)) return;
    for (const word of this.lastWords(before)) {
      const own = this.last(endpoint, word.alert.id);
      if (!own || own.at < word.at) this.#last.set(`${endpoint}\n${word.alert.id}`, { ...word, endpoint });
    }
  }

  #fail({ key, subject }: NotifiedAlert, what: string): void {
    if (this.failures.length < 20) this.failures.push({ invariant: "account", what: `${key}: ${what}`, subject, key });
  }
}

/** Not sent before; what a location's alert stood for is no news to a reader, and new to the account. */
function isNews({ isNew, isCovered }: NotifiedAlert): boolean {
  return isNew || isCovered === true;
}
