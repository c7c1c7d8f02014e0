/**
 * Every key lenswatch has in Redis, all under one hash tag so that scripts work on Redis Cluster. Scripts get
 * the prefix and build the same names (`scripts/*.lua`); BullMQ's queues live under the same tag.
 */
export function keysUnder(prefix: string) {
  const tag = `{${prefix}}`;
  const p = `${tag}:`;
  return {
    /** BullMQ's `prefix` option. */
    queuePrefix: tag,
    /** What every key begins with; scripts take it as an argument. */
    prefix: p,
    /** Hash: location id → shard number. */
    assignments: `${p}assign`,
    /** Hash: location id → when the inventory last listed it. */
    locationsSeen: `${p}locations:seen`,
    /** Hash: location id → JSON of the location. */
    locations: `${p}locations`,
    /** Hash: recording id → JSON of the recording. */
    recordings: `${p}recordings`,
    /** Hash `n` nonce, `d` document. */
    shard: (shard: number) => `${p}shard:${shard}`,
    /** Hash `n` nonce, `d` document: alerts about the service and the notifications. */
    fleet: `${p}fleet`,
    /** Hash: subject → JSON {goodAt, attemptedAt, error}. */
    attempts: `${p}attempts`,
    /** Hash: recording id → uptime history. */
    uptime: (shard: number) => `${p}uptime:${shard}`,
    /** Hash `n` nonce, `d` document: uptime per window, for sweeps and the exposition. */
    figures: (shard: number) => `${p}figures:${shard}`,
    /** Hash: episode id → `F` or `R` and JSON of the alert. */
    alerts: `${p}alerts`,
    /** Sorted set by end: ended incidents. */
    incidents: `${p}incidents`,
    /** Set: every integration that was ever owed or told something. */
    integrations: `${p}integrations`,
    /** Sorted set: group id → due time. */
    due: (integration: string) => `${p}due:${integration}`,
    /** Hash: episode id → JSON of what was told. */
    told: (integration: string) => `${p}told:${integration}`,
    /** Hash: group id → what one message keeps failing with. */
    trouble: (integration: string) => `${p}trouble:${integration}`,
    /** Hash: failures, until, since, code, detail; of an endpoint or an integration. */
    backoff: (scope: string) => `${p}backoff:${scope}`,
    /** String: when the endpoint may be used next. */
    pace: (endpoint: string) => `${p}pace:${endpoint}`,
    /** Hash: digest → JSON {spec, dueAt}. */
    digestsDue: `${p}digests:due`,
    /** Hash: recipient → when this digest was accepted for them. */
    digest: (name: string, periodEnd: number) => `${p}digest:${name}:${periodEnd}`,
  } as const;
}

export type Keys = ReturnType<typeof keysUnder>;
