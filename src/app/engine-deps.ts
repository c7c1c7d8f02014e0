/** What the engine is handed: the configuration, and everything that does I/O. */

import type { Queues } from "../cluster/queues.ts";
import type { Role } from "../cluster/replicas.ts";
import type { Config } from "../config/config.ts";
import type { Refusal, Sender } from "../deliver/deliver.ts";
import type { DigestMail } from "../digest/mail.ts";
import type { SelfAlertState } from "../health/evaluate-self.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Service } from "../service/service.ts";
import type { SelfAlertStore } from "../store/self-alerts.ts";
import type { Store } from "../store/store.ts";

export interface EngineDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly service: Service;
  readonly store: Store;
  readonly selfAlerts: SelfAlertStore<SelfAlertState>;
  readonly queues: Queues;
  readonly senders: ReadonlyMap<string, Sender>;
  readonly metrics: Metrics;
  /** Calls the dead man's switch; undefined where none is configured. */
  readonly callHeartbeat: ((signal: AbortSignal) => Promise<string | undefined>) | undefined;
  toRefusal(thrown: unknown): Refusal;
  readonly digestMail: DigestMail | undefined;
  /** Whether what sending a mail threw may pass. */
  isPassing(thrown: unknown): boolean;
  /** A sweep was attempted, here or by another replica. */
  attempted(at: Instant): void;
  /** Whether the configuration is still in force for the duty. */
  isActive(role: Role): Promise<boolean>;
}
