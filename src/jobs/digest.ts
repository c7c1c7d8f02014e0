/**
 * Digests: made from what is remembered, sent to each recipient once. What a mail server refuses for now is tried
 * again with a back-off; who has it already is written down per recipient.
 */
import { createHash } from "node:crypto";
import type { Config, DigestConfig } from "../config/config.ts";
import { type DigestInput, digestSteps } from "../digest/compute.ts";
import { incidentOf } from "../digest/incident.ts";
import { digestPeriod } from "../digest/period.ts";
import { renderDigest } from "../digest/render.ts";
import { currentStatus, recordingsById } from "../health/fleet.ts";
import type { UptimeBucket } from "../health/recording.ts";
import type { FleetSnapshot, RecordingState } from "../health/state.ts";
import { runBreathing } from "../lib/breathe.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Store } from "../store/store.ts";
import { dailyBuckets } from "./daily-buckets.ts";
import { attachmentsOf } from "./digest-attachments.ts";
import { type DigestMail, letterFor, type MadeDigest } from "./digest-mail.ts";

export interface DigestDeps {
  readonly config: Pick<Config, "rules" | "http" | "digests" | "service">;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The fleet now, and which shard each recording's history is in. */
  fleet(): Promise<FleetSnapshot & { readonly shardNumbers: readonly number[] }>;
}

const IDS_PER_READ = 1_000;
const DIGESTS_KEPT_S = 40 * 86_400;

/** Renders the digest for the last whole period before `at`. */
export async function makeDigest(deps: DigestDeps, digest: DigestConfig, at: Instant): Promise<MadeDigest> {
  const period = digestPeriod(digest.period, at, digest.timezone);
  const input = await gather(deps, digest, period);
  const frame = { name: digest.name, externalUrl: deps.config.http.externalUrl };
  const computed = await runBreathing(digestSteps(input));
  const { unsubscribeUrl } = digest;
  const attachments = await attachmentsOf(digest.name, computed);
  return { ...(await renderDigest(computed, frame)), attachments, unsubscribeUrl, periodEnd: period.end };
}

async function gather(
  deps: DigestDeps,
  digest: DigestConfig,
  period: DigestInput["period"],
): Promise<DigestInput> {
  const { rules } = deps.config;
  const fleet = await deps.fleet();
  const [ended, alerts] = await Promise.all([
    deps.store.incidents.endedSince(period.start),
    deps.store.shards.alerts(),
  ]);
  const firing = alerts.filter((alert) => alert.state === "firing");
  const incidents = [
    ...ended.map((row) => incidentOf({ ...row, labels: { alertname: row.alertname } }, rules)),
    ...firing.map((alert) => incidentOf(alert, rules)),
  ];
  const unreachable = new Set(
    rules.flatMap(({ id, when }) => (when.kind === "service" && when.state === "unreachable" ? [id] : [])),
  );
  const blind = [...ended, ...firing]
    .filter(({ ruleId, startsAt }) => unreachable.has(ruleId) && startsAt < period.end)
    .map(({ startsAt, endsAt }) => ({ from: startsAt, to: endsAt ?? fleet.now }));
  return {
    now: fleet.now,
    period,
    timezone: digest.timezone,
    recordings: recordingsOf(fleet, await runBreathing(recordingsById(fleet))),
    uptime: await uptimeOf(deps, fleet, period.start),
    incidents,
    matchers: digest.matchers,
    blind,
  };
}

function recordingsOf(
  fleet: FleetSnapshot,
  states: ReadonlyMap<string, RecordingState>,
): DigestInput["recordings"] {
  return [...states.values()].map((state) => ({
    recording: fleet.inventory.recording(state.id) ?? unnamed(state.id, state.locationId),
    locationName: fleet.inventory.location(state.locationId)?.name ?? state.locationId,
    status: currentStatus(state, fleet.now, fleet.statusIntervalMs),
    since: state.since,
  }));
}

function unnamed(id: string, locationId: string) {
  return {
    id,
    name: id,
    organisation: "",
    cameraServer: "",
    locationId,
    useUploadingSchedule: false,
    timezone: "UTC",
  };
}

/** Hourly buckets as far back as they are kept, one bucket a day before that. */
async function uptimeOf(
  { store, config }: DigestDeps,
  fleet: FleetSnapshot & { readonly shardNumbers: readonly number[] },
  from: Instant,
): Promise<Map<string, readonly UptimeBucket[]>> {
  const uptime = new Map<string, readonly UptimeBucket[]>();
  for (const [i, { recordings }] of fleet.shards.entries()) {
    const ids = [...recordings.keys()];
    for (let at = 0; at < ids.length; at += IDS_PER_READ) {
      const page = ids.slice(at, at + IDS_PER_READ);
      const histories = await store.uptime.histories(fleet.shardNumbers[i] ?? 0, page);
      for (const [id, history] of histories) {
        const zone =
          config.service.uptimeIndexTimezone === "utc" ? "UTC" : fleet.inventory.recording(id)?.timezone;
        uptime.set(id, dailyBuckets(history, zone ?? "UTC", from));
      }
    }
  }
  return uptime;
}

/** Longer than a mail server may take. */
const CLAIM_MS = 60_000;

/** Gives `send(name, at)`: true once every recipient has it or was given up; false: try again. */
export function createDigestJob(
  deps: DigestDeps & { mail: DigestMail | undefined; isPassing(error: unknown): boolean },
) {
  const { digests } = deps.store;

  /** True once the recipient has it or was given up. */
  async function sendTo(mail: DigestMail, made: MadeDigest, name: string, to: string): Promise<boolean> {
    const { periodEnd } = made;
    if (!(await digests.claim(name, periodEnd, to, CLAIM_MS))) return false;
    try {
      if ((await digests.accepted(name, periodEnd)).has(to)) return true;
      await mail.send(letterFor(made, to, messageIdOf(name, periodEnd, to)));
      await digests.accept(name, periodEnd, to, deps.clock.now(), DIGESTS_KEPT_S);
      deps.log.info({ digest: name }, "digest sent");
      return true;
    } catch (thrown) {
      const passing = deps.isPassing(thrown);
      const next = passing ? "it is tried again" : "it is given up for this recipient";
      deps.log.warn({ err: toError(thrown), digest: name, next }, "a digest was not accepted");
      return !passing;
    } finally {
      await digests.release(name, periodEnd, to);
    }
  }

  return async (name: string, at: Instant): Promise<boolean> => {
    const digest = deps.config.digests.find((one) => one.name === name);
    if (!digest || !deps.mail) return true;
    const { end } = digestPeriod(digest.period, at, digest.timezone);
    const done = await digests.accepted(name, end);
    const waiting = digest.to.filter((recipient) => !done.has(recipient));
    if (waiting.length === 0) return true;
    const made = await makeDigest(deps, digest, at);
    let complete = true;
    for (const to of waiting) complete = (await sendTo(deps.mail, made, name, to)) && complete;
    return complete;
  };
}

function messageIdOf(name: string, periodEnd: Instant, to: string): string {
  return createHash("sha256").update(`${name}\n${periodEnd}\n${to}`).digest("hex").slice(0, 32);
}
