/** Silences and acknowledgements kept in memory, changed by the code that changes the real ones. */
import type { StoredAcknowledgement } from "../../src/alerting/acknowledgement.ts";
import type { Silence } from "../../src/alerting/silence.ts";
import { createSuppressionChanges } from "../../src/deliver/suppression-changes.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { StoredEpisode } from "../../src/store/episodes.ts";

export function holdsInMemory(
  clock: { now(): number },
  firing: readonly Alert[] = [],
  ended: readonly StoredEpisode[] = [],
) {
  const silences = new Map<string, Silence>();
  const acks = new Map<string, StoredAcknowledgement>();
  const { silences: list, ...changes } = createSuppressionChanges({
    clock,
    store: {
      silences: {
        read: async () => [...silences.values()],
        async write(written) {
          for (const one of written) silences.set(one.id, one);
          return new Map();
        },
      },
      acks: {
        read: async () => acks,
        async change(id, _, changeOf) {
          const change = changeOf(acks.get(id));
          if (change) acks.set(id, change.after);
          return new Map();
        },
      },
      firing: async () => firing,
      episodes: { endedSince: async (from) => ended.filter(({ endsAt = from }) => endsAt >= from) },
    },
    wake: async () => {},
  });
  return { deps: { silences: list, ...changes }, kept: silences, acks };
}
