/**
 * Every key lenswatch has in Redis, and when it goes; all under one hash tag so that scripts work on Redis Cluster.
 * Scripts get the prefix and build the same names (`scripts/*.lua`); BullMQ's queues live under the same tag.
 * Besides these, scripts keep per group and integration: `grp:` (its timers; goes two group_intervals after the group
 * is empty), `mem:` (its episodes) and per episode `in:` (its groups; both go with the last one), and `claim:` (who
 * sends there now; goes with the lease).
 */
export function keysUnder(prefix: string) {
  const tag = `{${prefix}}`;
  const p = `${tag}:`;
  return {
    /** BullMQ's `prefix` option. */
    queuePrefix: tag,
    /** What every key begins with; scripts take it as an argument. */
    prefix: p,
    /** Hash: location id → shard number; a field goes with `forget_after` or the configuration. */
    assignments: `${p}assign`,
    /** Hash: location id → when the inventory last listed it; goes with its assignment. */
    locationsSeen: `${p}locations:seen`,
    /** Hash: location id → JSON of the location; stays: as many as there ever were. */
    locations: `${p}locations`,
    /** Hash: recording id → JSON of the recording; a field goes when it leaves the fleet. */
    recordings: `${p}recordings`,
    /** Hash: location id → JSON of the zones its recordings cover; a field goes with its assignment. */
    zones: `${p}zones`,
    /** Hash: location id → JSON {at, weekdays}: what it usually counts; a field goes with its assignment. */
    usualEntries: `${p}entries:usual`,
    /** How often names were written, and the last of those writes, newest first: what other replicas read again. */
    namesRevision: `${p}names:rev`,
    namesLog: `${p}names:log`,
    /** Hash `n` nonce, `d` document; goes once the shard has no locations and nothing left to say. */
    shard: (shard: number) => `${p}shard:${shard}`,
    /** Hash `n` nonce, `d` document: alerts about the service and the notifications; one, stays. */
    fleet: `${p}fleet`,
    /** Hash `n` nonce, `d` document, `deafUntil`: alerts sent from outside; one, stays, an alert in it goes with its end. */
    externalAlerts: `${p}outside`,
    /** Hash: subject → JSON {goodAt, attemptedAt, error}; a shard's fields go with it. */
    attempts: `${p}attempts`,
    /** Hash: recording id → uptime history; a field goes when it leaves the shard. */
    uptime: (shard: number) => `${p}uptime:${shard}`,
    /** Hash `n` nonce, `d` document: uptime per window, for sweeps and the exposition; goes with the shard. */
    figures: (shard: number) => `${p}figures:${shard}`,
    /** Hash: episode id → `F` or `R` and JSON of the alert; a field goes once it is over and owed to nobody. */
    alerts: `${p}alerts`,
    /** String: another one whenever an alert began, changed or ended; one, stays. */
    revision: `${p}rev`,
    /** Hash: id → JSON of the silence; a field goes five days after its end, when another one is written. */
    silences: `${p}silences`,
    /** Hash: episode id → JSON of who acknowledged it; a field goes with the end of its episode. */
    acks: `${p}acks`,
    /** Set: groups in which this episode or silence holds something back; goes with it, or by itself. */
    suppressed: (by: string) => `${p}held:${by}`,
    /** String: this silence was ended before its time; goes by itself after a minute. */
    ended: (silence: string) => `${p}ended:${silence}`,
    /** Sorted set by end: ended incidents, for 90 days and 50,000 of them at most. */
    incidents: `${p}incidents`,
    /** List, newest first: what was decided about a subject (`kind/id`); goes with `watch.history`, at most 1.5 million lines. */
    log: (subject: string) => `${p}log:${subject}`,
    /** Sorted set: subject → when its newest line was written; a member goes with its list. */
    logs: `${p}logs`,
    /** Hash `state`, `since`: that there is a memory, or that the first picture is gathered; one, stays. */
    started: `${p}started`,
    /** String: whose turn it is to call the heartbeat; goes within `heartbeat.interval`. */
    heartbeat: `${p}heartbeat`,
    /** Set: every integration that is or was configured; one that is gone goes once nothing is owed there. */
    integrations: `${p}integrations`,
    /** Sorted set: group id → due time; a member goes when the group is empty. */
    due: (integration: string) => `${p}due:${integration}`,
    /** Hash: episode id → JSON of what was told; a field goes when its end was told, never before. */
    notified: (integration: string) => `${p}told:${integration}`,
    /** Hash: group id → what one message keeps failing with; goes when it gets through, or a week after the last try. */
    trouble: (integration: string) => `${p}trouble:${integration}`,
    /** Hash: failures, until, since, code, detail; of an endpoint or an integration; goes like `trouble`. */
    backoff: (scope: string) => `${p}backoff:${scope}`,
    /** String: when the endpoint may be used next; goes by itself. */
    pace: (endpoint: string) => `${p}pace:${endpoint}`,
    /** Hash: replica → JSON {hash, generation, duties, at}; a field goes with its replica, or half a minute after. */
    replicas: `${p}replicas`,
    /** String: the replica that exposes the fleet; goes within 3 s unless renewed. */
    exposes: `${p}exposes`,
    /** String: until then another storm there is gathered; goes by itself. */
    storm: (integration: string) => `${p}storm:${integration}`,
    /** Hash: day → JSON [people counted in, when that was asked]; goes 21 days after the last was kept. */
    entries: (location: string) => `${p}entries:${location}`,
    /** Sorted set by end: when a stretch of sweeps began; one goes 70 days after its end, at most 2,000. */
    watched: `${p}watched`,
    /** Hash: digest → JSON {spec, dueAt}; a field goes with its configuration. */
    digestsDue: `${p}digests:due`,
    /** Hash: recipient → when this digest was accepted for them; goes after 40 days. */
    digest: (name: string, periodEnd: number) => `${p}digest:${name}:${periodEnd}`,
    /** String: somebody sends this digest to them just now; goes with the end of it, or by itself. */
    digestClaim: (name: string, periodEnd: number, recipient: string) =>
      `${p}digest:${name}:${periodEnd}:claim:${recipient}`,
  } as const;
}

export type Keys = ReturnType<typeof keysUnder>;
