/** What the daemon commits to Redis: which answers of the service were evaluated, and which alerts there were. */
import type { Redis } from "ioredis";
import { z } from "zod";
import type { Instant } from "../../src/lib/clock.ts";
import { keysUnder } from "../../src/store/keys.ts";
import type { Episode } from "./app-posts.ts";

/** More often than anything is swept. */
const POLL_MS = 200;

const Attempt = z.string().transform((text) => z.object({ goodAt: z.number() }).parse(JSON.parse(text)));

/** As it is stored, after `F` or `R`. */
const Stored = z
  .string()
  .transform((text) =>
    z
      .object({
        id: z.string(),
        startsAt: z.number(),
        endsAt: z.number().optional(),
        labels: z.object({
          alertname: z.string(),
          recording_id: z.string(),
          recording: z.string(),
          location_id: z.string(),
          location: z.string(),
        }),
      })
      .safeParse(JSON.parse(text.slice(1))),
  );

export interface Sweeps {
  /** By location: when an answer about it was evaluated and committed, oldest first. */
  byLocation(): ReadonlyMap<string, readonly Instant[]>;
  /** Alerts about recordings, by id. */
  episodes(): ReadonlyMap<string, Episode>;
  close(): void;
}

/** Polls Redis from now on, also after failures. `open` connects to the current master. */
export function watchSweeps(open: () => Redis): Sweeps {
  const keys = keysUnder("lenswatch");
  const judged = new Map<string, Instant[]>();
  const shardOf = new Map<string, string>();
  const episodes = new Map<string, Episode>();
  let redis = connect();
  let polling = false;

  function connect(): Redis {
    const connection = open();
    connection.on("error", () => {});
    return connection;
  }

  async function poll(): Promise<void> {
    const [attempts, assigned, alerts] = await Promise.all([
      redis.hgetall(keys.attempts),
      redis.hgetall(keys.assignments),
      redis.hvals(keys.alerts),
    ]);
    for (const text of alerts) noteEpisode(text);
    for (const [location, shard] of Object.entries(assigned)) shardOf.set(location, shard);
    for (const [subject, text] of Object.entries(attempts)) {
      if (!subject.startsWith("shard:")) continue;
      const { goodAt } = Attempt.parse(text);
      const known = judged.get(subject) ?? [];
      if (goodAt > (known.at(-1) ?? 0)) known.push(goodAt);
      judged.set(subject, known);
    }
  }

  function noteEpisode(text: string): void {
    const { data } = Stored.parse(text);
    if (!data) return;
    const { id, startsAt, endsAt, labels } = data;
    const { recording_id: recordingId, recording, location_id: locationId, location } = labels;
    const isFlapping = labels.alertname === "RecordingFlapping";
    episodes.set(id, { id, recordingId, recording, locationId, location, isFlapping, startsAt, endsAt });
  }

  const timer = setInterval(() => {
    if (polling) return;
    polling = true;
    poll()
      .catch(() => {
        redis.disconnect();
        redis = connect();
      })
      .finally(() => {
        polling = false;
      });
  }, POLL_MS);

  return {
    byLocation: () => new Map([...shardOf].map(([location, shard]) => [location, judged.get(`shard:${shard}`) ?? []])),
    episodes: () => episodes,
    close() {
      clearInterval(timer);
      redis.disconnect();
    },
  };
}
