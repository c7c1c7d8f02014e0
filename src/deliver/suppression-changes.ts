/** Suppressions as people change them: silences set and ended, alerts acknowledged. What they release is due at once. */
import { randomUUID } from "node:crypto";
import { fingerprint } from "../alerting/fingerprint.ts";
import { changeSilence, endSilence, silenceProblem, silenceState, type WantedSilence } from "../alerting/silence.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Store } from "../store/store.ts";

/** More silences that are not expired are a mistake: each is matched against every alert. */
const MOST_SILENCES = 2_000;

interface SuppressionChangesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Pick<Store, "silences" | "acks" | "firing">;
  wake(due: ReadonlyMap<string, Instant>): Promise<void>;
}

type SilenceOutcome = { outcome: "set"; id: string } | { outcome: "unknown" } | { outcome: "refused"; why: string };

export function createSuppressionChanges({ clock, log, store, wake }: SuppressionChangesDeps) {
  return {
    /** Every silence that is stored. */
    silences: () => store.silences.read(clock.now()),

    async setSilence(wanted: WantedSilence): Promise<SilenceOutcome> {
      const now = clock.now();
      const why = silenceProblem(wanted, now);
      if (why !== undefined) return { outcome: "refused", why };
      const all = await store.silences.read(now);
      const previous = all.find(({ id }) => id === wanted.id);
      if (wanted.id !== undefined && !previous) return { outcome: "unknown" };
      if (all.filter((one) => silenceState(one, now) !== "expired").length >= MOST_SILENCES && !previous) {
        return { outcome: "refused", why: `there are ${MOST_SILENCES} silences already; end some of them first` };
      }
      const { silence, replaced } = changeSilence(previous, wanted, { now, newId: randomUUID() });
      const written = replaced ? [silence, replaced] : [silence];
      await wake(await store.silences.write(written, now));
      log.info({ silence: silence.id, by: silence.createdBy, replaced: replaced?.id }, "silence set");
      return { outcome: "set", id: silence.id };
    },

    /** False where there is none with that id; an expired one stays as it is. */
    async endSilence(id: string): Promise<boolean> {
      const now = clock.now();
      const silence = (await store.silences.read(now)).find((one) => one.id === id);
      if (!silence) return false;
      if (silenceState(silence, now) !== "expired") {
        await wake(await store.silences.write([endSilence(silence, now)], now));
        log.info({ silence: id }, "silence ended");
      }
      return true;
    },

    /** Acknowledges alerts that fire with this fingerprint, until they resolve; gives how many. */
    async acknowledge(print: string, { author, comment }: { author: string; comment: string }): Promise<number> {
      const episodes = (await store.firing()).filter(({ labels }) => fingerprint(labels) === print).map(({ id }) => id);
      const done = await store.acks.acknowledge(episodes, { author, comment, at: clock.now() });
      if (done.length > 0) log.info({ alerts: done, by: author }, "acknowledged");
      return done.length;
    },
  };
}
