/** The HTTP server's dependencies: readers and writers of the state it shows, and its settings. */
import type { StoredAcknowledgement } from "../alerting/acknowledgement.ts";
import type { Audit, AuditOrigin } from "../alerting/audit.ts";
import type { LogLine } from "../alerting/decision-log.ts";
import type { Document } from "../alerting/document.ts";
import type { SentAlert } from "../alerting/external-alerts.ts";
import type { ShiftNote } from "../alerting/handover.ts";
import type { Episode } from "../alerting/incident.ts";
import type { Suppression } from "../alerting/model.ts";
import type { Integration } from "../alerting/route.ts";
import type { createSuppressionChanges } from "../deliver/suppression-changes.ts";
import type { Alert, Subject } from "../health/alert.ts";
import type { FleetOverview } from "../health/shard-overview.ts";
import type { FleetSnapshot } from "../health/shard-state.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import type { Logger } from "../lib/log.ts";
import type { AcceptedAlerts } from "../poll/external-alerts.ts";
import type { UptimeReader } from "../poll/uptime-reader.ts";
import type { Report, ReportRequest } from "../report/report.ts";
import type { StoredEpisode } from "../store/episodes.ts";
import type { Store } from "../store/store.ts";
import type { Limits } from "./limits.ts";
import type { Access } from "./principal.ts";
import type { Readiness } from "./readiness.ts";
import type { ShownConfig } from "./v2/config-original.ts";

/** A stored alert with its receivers and what suppresses it. */
export interface ActiveAlert {
  readonly alert: Alert;
  /** Names of receivers. */
  readonly receivers: readonly string[];
  /** Ids of silences. */
  readonly silencedBy?: readonly string[];
  /** Fingerprints of alerts. */
  readonly inhibitedBy?: readonly string[];
  /** Names of time intervals. */
  readonly mutedBy?: readonly string[];
  /** Its name is `by`. */
  readonly maintenance?: Suppression | undefined;
  /** For external alerts: when last posted, when they expire, and whether they still wait for evaluation. */
  readonly external?:
    | { readonly updatedAt: Instant; readonly endsAt: Instant; readonly unprocessed: boolean }
    | undefined;
  /** In force. */
  readonly acknowledgement?: StoredAcknowledgement | undefined;
  /** One that ran out or was withdrawn. */
  readonly endedAcknowledgement?: StoredAcknowledgement | undefined;
}

/** Result of a reload of the configuration; problems are a sentence each. */
export type ReloadResult =
  | { readonly outcome: "loaded" }
  | { readonly outcome: "refused"; readonly problems: readonly string[] };

/** The metrics in the format of a scraper's Accept header; nothing is computed before `body` is read. */
export interface MetricsSource {
  expose(accept: string | undefined): {
    readonly contentType: string;
    readonly body: AsyncIterable<string | Uint8Array>;
  };
}

type SuppressionChanges = ReturnType<typeof createSuppressionChanges>;

type AlertChanges = Pick<
  SuppressionChanges,
  | "silences"
  | "setSilence"
  | "endSilence"
  | "extendSilence"
  | "undoSilence"
  | "acknowledge"
  | "acknowledgeEach"
  | "withdraw"
  | "undoAck"
  | "note"
>;

export interface HttpDeps extends AlertChanges {
  readonly listen: { readonly host: string; readonly port: number };
  /** The address of metrics and probes; absent: they are served at `listen`. */
  readonly metricsListen?: HttpDeps["listen"] | undefined;
  /** Certificate and key as PEM, the same object until the configuration changes; undefined: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly access: Access;
  readonly audit: Audit;
  readonly log: Logger;
  readonly clock: Clock;
  readonly version: string;
  /** Base of links to the status page, without a trailing slash. */
  readonly externalUrl?: string | undefined;
  /** An answer later than `readyDeadlineMs` counts as not ready. */
  ready(): Promise<Readiness>;
  overview(): Promise<FleetOverview>;
  /** These shards as they are now, with figures of uptime. */
  shards(numbers: readonly number[]): Promise<FleetSnapshot>;
  alerts(): Promise<readonly ActiveAlert[]>;
  /** Stores posted alerts by fingerprint; counts those refused for lack of room. */
  acceptAlerts(sent: readonly (readonly [fingerprint: string, alert: SentAlert])[]): Promise<AcceptedAlerts>;
  /** Counts posted alerts for the metrics. */
  alertsReceived(counts: Readonly<Record<"firing" | "resolved" | "invalid", number>>): void;
  readonly uptimes: UptimeReader["kept"];
  /** The hours of a recording's last month, oldest first; empty where the service does not answer at once. */
  readonly recallUptime: UptimeReader["recall"];
  /** Episodes that ended in the last day, as they were a few seconds ago at most. */
  endedLately(): Promise<readonly Episode[]>;
  /** Episodes that are open, or ended at or after `since`; in any order. */
  episodes(since: Instant): Promise<readonly StoredEpisode[]>;
  /** Reads the histories of the whole fleet, for seconds where it is large; undefined where too many wait for theirs. */
  report(request: ReportRequest): Promise<Report> | undefined;
  /** What one shift tells the next, with times in this zone. */
  handover(span: Interval, timezone: string): Promise<Document>;
  addShiftNote(note: ShiftNote, by: AuditOrigin): Promise<void>;
  /** The decision log of these subjects since an instant, oldest first. */
  timeline(subjects: readonly Subject[], since: Instant): Promise<readonly LogLine[]>;
  /** The last verdicts on the counts of the fleet. */
  readonly countsJudged: Store["countVerdicts"]["refreshJudged"];
  /** Zones covered, by location id and recording id. */
  readonly zones: Store["zones"]["read"];
  config(): ShownConfig;
  integrations(): readonly Integration[];
  /** Loads the configuration file again; undefined where there is no file. */
  reload?: ((by: AuditOrigin) => Promise<ReloadResult>) | undefined;
  readonly metrics: MetricsSource;
  /** Smaller limits, for tests. */
  readonly limits?: Partial<Limits> | undefined;
}
