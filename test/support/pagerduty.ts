/** PagerDuty's incidents as its documentation has them: what an event makes of one, and when somebody is paged. */
import type { Notification } from "../../src/alerting/model.ts";
import { renderPagerDuty } from "../../src/notify/pagerduty.ts";

interface Incident {
  state: "triggered" | "acknowledged";
  /** Somebody acknowledged it at PagerDuty. */
  isTheirs: boolean;
}

export class PagerDuty {
  /** Those that are open, by `dedup_key`. */
  readonly incidents = new Map<string, Incident>();
  readonly events: { readonly at: number; readonly action: string; readonly key: string }[] = [];
  readonly pages: { readonly at: number; readonly key: string; readonly summary: string }[] = [];

  /** An acknowledged incident pages nobody, whatever triggers it again; nothing opens it but its end and a trigger. */
  take(notification: Notification, at: number): { readonly handle: string | undefined } {
    for (const { event_action: action, dedup_key: key, payload } of renderPagerDuty(notification, OPTIONS)) {
      this.events.push({ at, action, key });
      const incident = this.incidents.get(key);
      if (action === "resolve") this.incidents.delete(key);
      if (action === "acknowledge" && incident) incident.state = "acknowledged";
      if (action !== "trigger" || incident) continue;
      this.incidents.set(key, { state: "triggered", isTheirs: false });
      this.pages.push({ at, key, summary: payload?.summary ?? "" });
    }
    return { handle: notification.conversation?.id };
  }

  /** A person acknowledges there, which lenswatch does not learn. */
  acknowledge(): void {
    for (const incident of this.incidents.values()) {
      if (incident.state === "triggered") Object.assign(incident, { state: "acknowledged", isTheirs: true });
    }
  }

  states = () => [...this.incidents.values()].map(({ state }) => state);
}

const OPTIONS = { sendResolved: true };
