/**
 * What was said, per integration and episode; kept apart from what is true. A told record lives as long as it
 * says firing and holds what is needed to tell the end.
 */

import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";

export interface NotificationLogEntry {
  /** The episode as it was told. */
  readonly alert: Alert;
  /** When the integration last accepted a message that said it fires. */
  readonly notifiedAt: Instant;
  /** When its end was first accepted, where it is sent again for a while (`Integration.resendMs`). */
  readonly endNotifiedAt?: Instant | undefined;
  /** The group it was told in. */
  readonly groupId: string;
}
