/** The banner: the worst that is wrong with lenswatch itself, and what to do about it. Pure. */
import type { Alert } from "../health/alert.ts";
import { directoryWords, evidenceWords, notificationWords, type TroubleWords } from "../health/self-words.ts";
import type { FleetOverview } from "../health/shard-overview.ts";
import type { Instant } from "../lib/clock.ts";
import { isOfLenswatch } from "./attention.ts";
import { alertSubjectName } from "./incident-words.ts";
import type { Seen } from "./overview.ts";
import { breadths, severityTone, type Tone, tones } from "./tone.ts";

export interface Banner extends TroubleWords {
  readonly tone: Tone;
  readonly since: Instant;
  /** The alert about it; undefined before it fires. */
  readonly alert: Alert | undefined;
}

/** The worst alone; undefined where all is well with lenswatch. */
export function bannerOf({ fleet, alerts }: Pick<Seen, "fleet" | "alerts">): Banner | undefined {
  const own = alerts.filter(isOfLenswatch);
  const unread = unreadBanner(fleet, own);
  const others = own.flatMap((alert): Banner[] => {
    if (alert.subject.kind === "service" && (unread || fleet.evidence?.state === "in_time")) return [];
    return [{ ...wordsOf(alert), tone: severityTone(alert.labels), since: alert.startsAt, alert }];
  });
  const rankOf = ({ tone, alert }: Banner) => 10 * tones.indexOf(tone) + breadths[alert?.subject.kind ?? "service"];
  return [...(unread ? [unread] : []), ...others].sort((a, b) => rankOf(a) - rankOf(b))[0];
}

/** The cause of now, whatever it was when the alert began. */
function unreadBanner({ evidence, now, statusIntervalMs }: FleetOverview, own: readonly Alert[]): Banner | undefined {
  if (evidence?.state !== "unreachable" && evidence?.state !== "partly") return undefined;
  const isWhole = evidence.state === "unreachable";
  const words = evidenceWords(isWhole, evidence, { now, intervalMs: statusIntervalMs, requestTimeoutMs: 0 });
  const problem = isWhole ? "service_unreachable" : "service_partly_unreachable";
  const alert = own.find(({ facts }) => facts.problem === problem);
  const tone = alert ? severityTone(alert.labels) : isWhole ? "critical" : "warning";
  return { ...words, tone, since: alert?.startsAt ?? words.since, alert };
}

function wordsOf({ subject, labels, annotations, facts }: Alert): TroubleWords {
  const { detail = "" } = facts;
  if (subject.kind === "directory") return directoryWords(detail);
  if (subject.kind === "integration") return notificationWords(alertSubjectName({ subject, labels }), detail);
  return { summary: annotations.summary ?? "Part of the service cannot be read", text: detail };
}
