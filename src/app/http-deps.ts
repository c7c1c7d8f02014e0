/** The dependencies of the HTTP server. */
import { hkdfSync } from "node:crypto";
import { toAlert } from "../alerting/external-alerts.ts";
import { fingerprint } from "../alerting/fingerprint.ts";
import { routesOf } from "../alerting/route.ts";
import { withSuppressionLines } from "../alerting/suppression-lines.ts";
import { rolesOf } from "../cluster/active-config.ts";
import type { Config } from "../config/config.ts";
import { isReadingOpen } from "../config/http-schema.ts";
import { createAnnotate } from "../deliver/annotate.ts";
import { readEpisodes } from "../digest/read-episodes.ts";
import { readHandover } from "../digest/read-handover.ts";
import { type Alert, groupOfSubject, type Subject } from "../health/alert.ts";
import { recordingLabels } from "../health/recording-evaluator.ts";
import type { ActiveAlert, HttpDeps } from "../http/deps.ts";
import type { Access } from "../http/principal.ts";
import { proxyCheck } from "../http/proxies.ts";
import { judgeReadiness, type ReadinessFacts } from "../http/readiness.ts";
import { DAY_MS } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import { keptFor } from "../lib/kept.ts";
import { readVersion } from "../lib/version.ts";
import { coalesced, mapYielding } from "../lib/yield.ts";
import { createExposition } from "../metrics/exposition.ts";
import type { FleetView } from "../metrics/fleet.ts";
import type { Reloader } from "./reload.ts";
import type { Runtime } from "./runtime.ts";
import type { Setup } from "./setup.ts";

const PING_DEADLINE_MS = 500;
/** A page does not wait any longer; what takes longer is on the next one. */
const VISITS_DEADLINE_MS = 1_000;
const ENDED_KEPT_MS = 2_000;
const WATCHED_ENDPOINTS = ["status_uptime", "uptimes", "locations"] as const;

/** The dependencies of the HTTP server; the setup in force is looked up at each request. */
export function httpDeps(runtime: Runtime, reloader: Reloader, reload: HttpDeps["reload"]): HttpDeps {
  const { log, clock, store, registry, metrics } = runtime;
  const annotate = createAnnotate({ ...store, log });
  const config = () => reloader.current().config;
  const engine = () => reloader.current().engine;
  const access = createAccess(config);
  const episodesSource = () => ({ store, config: config(), uncounted: engine().uncounted });
  const endedLately = keptFor(ENDED_KEPT_MS, (now) => store.episodes.endedSince(now - DAY_MS));
  return {
    log,
    clock,
    version: readVersion(),
    listen: config().http,
    metricsListen: config().http.metricsListen,
    get tls() {
      return config().http.tls;
    },
    get access() {
      return access();
    },
    get externalUrl() {
      return config().http.externalUrl;
    },
    audit: runtime.audit,
    ready: async () => judgeReadiness(await readinessFacts(runtime, reloader), clock.now()),
    overview: () => engine().overview(),
    shards: (numbers) => engine().fleet(numbers),
    uptimes: (ids) => engine().uptimes.kept(ids),
    recallUptime: (id, timezone) => engine().uptimes.recall(id, timezone),
    alerts: coalesced(() => activeAlerts(runtime, reloader.current(), annotate)),
    alertsReceived: metrics.alertsReceived,
    acceptAlerts: (sent) => engine().poll.externalAlerts.accept(sent),
    ...engine().changes,
    timeline: createTimeline(runtime),
    countsJudged: store.countVerdicts.refreshJudged,
    zones: store.zones.read,
    endedLately: () => endedLately(clock.now()),
    episodes: (since) => readEpisodes(episodesSource(), since, clock.now(), VISITS_DEADLINE_MS),
    report: (request) => engine().report(request),
    handover: (span, timezone) => readHandover({ ...episodesSource(), store, clock }, span, timezone),
    async addShiftNote(note, by) {
      await store.shiftNotes.add(note);
      runtime.audit({ ...by, action: "shift_noted", outcome: "done", after: { text: note.text } });
    },
    config,
    integrations: () => reloader.current().senders.list,
    reload,
    metrics: createExposition({ registry, log, fleet: () => fleetView(runtime, reloader.current()) }),
  };
}

/** The decision log, and what the clock adds to it. */
function createTimeline({ store, clock }: Runtime): HttpDeps["timeline"] {
  const { inventory } = store;
  const labelsOf = (subject: Subject) => {
    const { kind, id } = subject;
    const group = groupOfSubject(subject);
    if (group) return { [group.label]: group.value };
    if (kind === "recording") return recordingLabels(id, inventory.recording(id)?.locationId ?? "", inventory);
    const location = kind === "location" ? inventory.location(id) : undefined;
    return { location_id: location?.id, location: location?.name, timezone: location?.timezone };
  };
  return async (subjects, since) => {
    const now = clock.now();
    const [lines, silences] = await Promise.all([store.log.read(subjects, since), store.silences.read(now)]);
    const named = subjects.map((subject) => [subject, labelsOf(subject)] as const);
    return withSuppressionLines(lines, { silences, subjects: named, since, now });
  };
}

/** Built once for each configuration. */
function createAccess(config: () => Config): () => Access {
  let built: { readonly of: Config; readonly access: Access } | undefined;
  return () => {
    const now = config();
    if (built?.of !== now) built = { of: now, access: accessOf(now) };
    return built.access;
  };
}

/** Forms are signed with what all replicas have: the service's secret, which the key does not reveal. */
function accessOf({ http, service }: Config): Access {
  return {
    tokens: http.tokens,
    isReadingOpen: isReadingOpen(http),
    isTrustedProxy: proxyCheck(http.trustedProxies),
    authProxy: http.authProxy,
    formKey: Buffer.from(hkdfSync("sha256", service.clientSecret, "lenswatch", "lenswatch page form 3", 32)).toString(
      "hex",
    ),
  };
}

async function activeAlerts(
  { clock, store }: Runtime,
  { engine, config }: Setup,
  annotate: ReturnType<typeof createAnnotate>,
): Promise<ActiveAlert[]> {
  const receivers = (alert: Alert) =>
    new Set(routesOf(config.route, alert, store.inventory).map(({ receiver }) => receiver)).keys().toArray();
  const [suppressible, { state: externalAlerts }] = await Promise.all([
    engine.notify.suppression.ofAll(),
    store.externalAlerts.read(),
  ]);
  const stored = suppressible.map(({ alert }) => alert);
  const alerts = await annotate(stored, clock.now());
  const firing = await mapYielding(suppressible, (one, i): ActiveAlert => {
    const alert = alerts[i] ?? one.alert;
    const sent = alert.subject.kind === "external" ? externalAlerts.get(alert.subject.id) : undefined;
    const external = sent && { ...sent, unprocessed: false };
    const inhibitedBy = one.inhibitedBy.map(({ labels }) => fingerprint(labels));
    return { ...one, alert, receivers: receivers(alert), inhibitedBy, external };
  });
  const unprocessed = [...externalAlerts].flatMap(([print, sent]): ActiveAlert[] => {
    if (sent.firedAt !== undefined) return [];
    const alert = toAlert(print, sent, clock.now());
    return [{ alert, receivers: receivers(alert), external: { ...sent, unprocessed: true } }];
  });
  return [...firing, ...unprocessed];
}

/** One replica at a time exposes the fleet; the others only themselves. */
async function fleetView(runtime: Runtime, { engine, config }: Setup): Promise<FleetView | undefined> {
  const { replicas, store } = runtime;
  if (!replicas.exposes()) return undefined;
  const [fleet, evidence, { state }] = await Promise.all([engine.fleet(), engine.evidence(), store.selfAlerts.read()]);
  const snapshot = { ...fleet, evidence };
  const externalAlerts = (await store.externalAlerts.read()).state;
  const otherAlerts = [
    ...Object.values(state).flatMap((alerts) => Object.values(alerts)),
    ...[...externalAlerts.values()].map(({ labels }) => ({ labels, state: "firing" as const })),
  ];
  const { at, hours } = await store.countVerdicts.refreshJudged();
  const isRead = config.counts.read && snapshot.now - at <= 3 * config.counts.intervalMs;
  const readAt = {
    uptime: await readSince(store, "uptime", snapshot.shardNumbers),
    counts: config.counts.read ? await readSince(store, "counts", snapshot.shardNumbers) : undefined,
    recordings: evidence.oldestAt,
  };
  const { rules, metrics } = config;
  const { perRecording } = metrics;
  return { snapshot, rules, otherAlerts, hours: isRead ? hours : undefined, readAt, perRecording };
}

/** The last reading of the shard that was read longest ago; undefined where none ever was. */
export async function readSince(
  { shards }: Pick<Runtime["store"], "shards">,
  what: "uptime" | "counts",
  swept: readonly number[],
) {
  const attempts = await shards.attemptsOf(swept.map((shard) => `${what}:${shard}`));
  const read = [...attempts.values()].flatMap(({ goodAt }) => (goodAt > 0 ? goodAt : []));
  return read.length > 0 ? Math.min(...read) : undefined;
}

/** The facts that readiness is judged by, read now. */
export async function readinessFacts(runtime: Runtime, reloader: Reloader): Promise<ReadinessFacts> {
  const { redis, replicas, lastAttemptAt } = runtime;
  const { watch } = reloader.current().config;
  const ping = async () => withDeadline(redis.ping(), PING_DEADLINE_MS).then(Boolean, () => false);
  const sweeps = { lastAttemptAt: lastAttemptAt(), statusIntervalMs: watch.statusIntervalMs };
  const redisReachable = redis.status === "ready" && (await ping());
  const evidence = async () => withDeadline(reloader.current().engine.evidence(), PING_DEADLINE_MS);
  return {
    configLoaded: true,
    redisReachable,
    evidence: redisReachable ? await evidence().catch(() => undefined) : undefined,
    sweeps: rolesOf(replicas.roleOption).includes("poll") ? sweeps : undefined,
    standby: replicas.standby(),
    isSlackDown: reloader.slack.isDown(),
    endpointsDown: endpointsDown(runtime),
  };
}

function endpointsDown({ serviceUp }: Pick<Runtime, "serviceUp">): string[] {
  return WATCHED_ENDPOINTS.filter((endpoint) => serviceUp.get(endpoint) === false);
}
