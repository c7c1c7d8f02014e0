/**
 * Every key lenswatch has in Redis, and when it is deleted; all under one hash tag so that a transaction works on a
 * cluster. BullMQ's queues are under the same tag.
 */
export function keysUnder(prefix: string) {
  const tag = `{${prefix}}`;
  const p = `${tag}:`;
  return {
    /** BullMQ's `prefix` option. */
    queuePrefix: tag,
    /** The beginning of every key. */
    prefix: p,
    ...fleetKeys(p),
    ...alertKeys(p),
    ...notificationKeys(p),
    ...jobKeys(p),
  };
}

export type Keys = ReturnType<typeof keysUnder>;

function fleetKeys(p: string) {
  return {
    /** Hash: location id → shard number; a field until `forget_after` or a change of the configuration. */
    assignments: `${p}assign`,
    /** Document without a text, of the last time that assignments were written; never deleted. */
    assignmentsWritten: `${p}assign:written`,
    /** Hash: location id → when the inventory last listed it; a field as long as its assignment. */
    locationsSeen: `${p}locations:seen`,
    /** Hash: location id → JSON of the location; never deleted. */
    locations: `${p}locations`,
    /** Hash: recording id → JSON of the recording; a field until it leaves the fleet. */
    recordings: `${p}recordings`,
    /** Hash: location id → JSON of the zones its recordings cover; a field as long as its assignment. */
    zones: `${p}zones`,
    /** Hash: location id → JSON {weekdays}: its usual entries; a field as long as its assignment, while counts are read. */
    usualEntries: `${p}entries:usual`,
    /** Hash: hours and readings of a location's counts; as long as its assignment, or nine weeks after the last one. */
    counts: (location: string) => `${p}counts:${location}`,
    /** Hash: shard → JSON of what its counts show; a field as long as the shard, while counts are read. */
    countsAssessed: `${p}counts-assessed`,
    /** Hash `n` nonce, `d` document: what the counts of the fleet come to; while counts are read. */
    countsJudged: `${p}counts-judged`,
    /** String: JSON of the texts of the directory that was read last, and its columns; until there is none. */
    directory: `${p}directory`,
    /** List, newest first: the last writes of names, each its id and JSON of what it wrote. */
    namesLog: `${p}names:log`,
    /** Hash `n` nonce, `d` document, `r:` with a recording's id, `l:` with a location's; until it has no locations and no alerts. */
    shard: (shard: number) => `${p}shard:${shard}`,
    /** Hash: subject → JSON {goodAt, attemptedAt, error, …}; a shard's fields as long as the shard. */
    attempts: `${p}attempts`,
    /** Hash: shard → JSON of its overview, from its last good sweep; a field as long as the shard. */
    overview: `${p}overview`,
    /** Hash: shard → JSON of what its last good sweep counted by label; a field as long as the shard and a rule on it. */
    groups: `${p}groups`,
    /** Hash: recording id → uptime history; a field until it leaves the shard. */
    uptime: (shard: number) => `${p}uptime:${shard}`,
    /** Hash `n` nonce, `d` document: uptime per window, for sweeps and the exposition; as long as the shard. */
    figures: (shard: number) => `${p}figures:${shard}`,
    /** Sorted set by end: when a span of sweeps began; one until 70 days after its end, at most 2,000. */
    coverage: `${p}coverage`,
  };
}

function alertKeys(p: string) {
  return {
    /** Hash `n` nonce, `d` document: self alerts; never deleted. */
    fleet: `${p}fleet`,
    /** Hash `n` nonce, `d` document, `deafUntil`: external alerts; never deleted, an alert in it until its end. */
    externalAlerts: `${p}external`,
    /** Hash: episode id → `F` or `R` and JSON of the alert; a field until it is resolved and its end not owed anywhere. */
    alerts: `${p}alerts`,
    /** List, newest first: the last writes of alerts, each its id and JSON [episode id]. */
    alertsLog: `${p}alerts:log`,
    /** Hash: id → JSON of the silence; a field until five days after its end, when another one is written. */
    silences: `${p}silences`,
    /** Hash: episode id → JSON of its acknowledgement; a field for as long as that of `alerts`. */
    acks: `${p}acks`,
    /** Sorted set by end: ended episodes, for 90 days and 50,000 of them at most. */
    episodes: `${p}episodes`,
    /** Document without a text, of the last time that an episode was replaced; never deleted. */
    episodeReplaced: `${p}episodes:replaced`,
    /** List, newest first: JSON of decisions about a subject (`kind/id`); the last 500 are left once an hour. */
    log: (subject: string) => `${p}log:${subject}`,
    /** Sorted set: subject → when its newest line was written; a member as long as its list. */
    logs: `${p}logs`,
  };
}

function notificationKeys(p: string) {
  return {
    /** Hash `state`, `since` and a field of each integration: whether its summary is still gathered; never deleted. */
    started: `${p}started`,
    /** Set: every integration that is or was configured; a removed one until nothing is owed there. */
    integrations: `${p}integrations`,
    /** Document: by id of the rules and integrations, what tells each from others; as long as configured or owing. */
    identities: `${p}identities`,
    /** Hash: group id → JSON of its settings, from its route; a field until it is empty. */
    settings: (integration: string) => `${p}settings:${integration}`,
    /** Document: what a group's last turn left; until two `group_interval`s after it is empty. */
    group: (integration: string, group: string) => `${p}grp:${integration}:${group}`,
    /** Sorted set: the episodes of a group, by since when each is in it; set: an episode's groups, `<integration>\n<group>`; until the last one left. */
    members: (integration: string, group: string) => `${p}mem:${integration}:${group}`,
    in: (episode: string) => `${p}in:${episode}`,
    /** Set: the groups that share a conversation; until the last one left it, or 90 days. */
    talk: (integration: string, conversation: string) => `${p}talk:${integration}:${conversation}`,
    /** Set: the episodes that a conversation's messages were about; until a day after its end, or 90 days. */
    about: (integration: string, conversation: string) => `${p}about:${integration}:${conversation}`,
    /** Hash: transaction → JSON of the causes of suppression that it ended; a field until their groups are due. */
    released: `${p}released`,
    /** Sorted set: group id → when it is to be looked at, or sooner; a member until the group is empty. */
    due: (integration: string) => `${p}due:${integration}`,
    /** Hash: group id → the id of the last write that made it due; a field until its next claim. */
    changed: (integration: string) => `${p}changed:${integration}`,
    /** Sorted set: group id → when its root is compared with the present; a member while it has one. */
    roots: (integration: string) => `${p}roots:${integration}`,
    /** String: token, lease (ms) and groups of the claim there; until the end of its lease. */
    claim: (integration: string) => `${p}claim:${integration}`,
    /** Document: what may have been sent there, written before it is; until its outcome is known. */
    intent: (integration: string) => `${p}turn:${integration}`,
    /** Hash: episode id → JSON of what is known of it there; a field until it left all groups there, and its end was notified where it was. */
    notificationLog: (integration: string) => `${p}nflog:${integration}`,
    /** Hash: group id → what one message keeps failing with; until it is accepted, or a week after the last try. */
    trouble: (integration: string) => `${p}trouble:${integration}`,
    /** Hash: failures, until, since, code, detail; of an endpoint or an integration; deleted like `trouble`. */
    backoff: (scope: string) => `${p}backoff:${scope}`,
    /** String: when the endpoint, or a channel of it, may be used next; expires. */
    pace: (paced: string) => `${p}pace:${paced}`,
    /** String: until when another storm there is gathered; expires. */
    storm: (integration: string) => `${p}storm:${integration}`,
    /** Set: groups in which this episode or silence suppresses something; deleted at its end, or expires. */
    suppressed: (cause: string) => `${p}suppressed:${cause}`,
  };
}

function jobKeys(p: string) {
  return {
    /** Hash: digest → JSON {spec, dueAt}; a field as long as its configuration. */
    digestsDue: `${p}digests:due`,
    /** List, newest first: JSON of what people wrote for the next shift; the last 200. */
    shiftNotes: `${p}shift-notes`,
    /** Hash: recipient and the period's beginning → when this digest was accepted for them; for 40 days. */
    digest: (name: string, periodEnd: number) => `${p}digest:${name}:${periodEnd}`,
    /** String: this digest is being sent to this recipient; until it was sent, or expires. */
    digestClaim: (name: string, { from, to }: { from: number; to: number }, recipient: string) =>
      `${p}digest:${name}:${from}-${to}:claim:${recipient}`,
    /** String: which replica calls the heartbeat; expires within `heartbeat.interval`. */
    heartbeat: `${p}heartbeat`,
    /** String: the time by the clock of the replica that reconciled last; never deleted. */
    clock: `${p}clock`,
    /** Hash: role → the hash of its active configuration, as the replicas agree; never deleted. */
    active: `${p}active`,
    /** The hash of the configuration that alerts were routed by last; never deleted. */
    routed: `${p}routed`,
    /** Hash: replica → JSON {hash, generation, roles, sweeps, at}; until it stops, or is silent for 30 s. */
    replicas: `${p}replicas`,
    /** String: the replica that exposes the fleet; expires unless renewed. */
    exposes: `${p}exposes`,
  };
}
