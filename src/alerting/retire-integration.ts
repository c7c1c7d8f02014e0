/**
 * The last message to an integration that is configured no more: who was told of a problem there would wait for its
 * end for ever, since nobody can send it later: not even a mute time holds it. So it is told as over now, and never
 * as back.
 */
import { type GroupDecision, type GroupView, needsUpdate } from "./needs-update.ts";

/**
 * As `needsUpdate`, with what was told and still fires ended as `no_longer_watched`. What was not told there is left
 * out: another integration may speak of it.
 */
export function decideRetirement(view: GroupView): GroupDecision {
  const { now } = view;
  const alerts = view.alerts.flatMap((alert) => {
    if (alert.state === "resolved") return [alert];
    if (!view.notified.has(alert.id)) return [];
    return [
      {
        ...alert,
        state: "resolved",
        updatedAt: now,
        endsAt: now,
        endReason: "no_longer_watched",
      } as const,
    ];
  });
  return needsUpdate({ ...view, alerts });
}
