/** All alerts that fire, read again only when one fired, changed or resolved; unchanged ones are not parsed again. */
import type { Redis } from "ioredis";
import type { Alert } from "../health/alert.ts";
import type { Keys } from "./keys.ts";

interface Known {
  readonly revision: string | null;
  readonly byId: ReadonlyMap<string, { readonly text: string; readonly alert: Alert }>;
  readonly firing: readonly Alert[];
}

const NOTHING: Known = { revision: null, byId: new Map(), firing: [] };

/** Gives `firing()`: the same list, and the same alerts in it, as long as nothing changes. */
export function createFiringStore(redis: Redis, keys: Keys) {
  let known = NOTHING;

  async function read(revision: string | null): Promise<Known> {
    const byId = new Map<string, { text: string; alert: Alert }>();
    for (const [id, text] of Object.entries(await redis.hgetall(keys.alerts))) {
      if (!text.startsWith("F")) continue;
      const before = known.byId.get(id);
      byId.set(id, before?.text === text ? before : { text, alert: JSON.parse(text.slice(1)) as Alert });
    }
    return { revision, byId, firing: [...byId.values()].map(({ alert }) => alert) };
  }

  return async (): Promise<readonly Alert[]> => {
    const revision = await redis.get(keys.revision);
    if (revision === null || revision !== known.revision) known = await read(revision);
    return known.firing;
  };
}
