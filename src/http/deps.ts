/** What the HTTP server is handed: small interfaces, declared here where they are used. */

import type { LogLine } from "../alerting/decision-log.ts";
import type { SentAlert } from "../alerting/external-alerts.ts";
import type { InhibitRule } from "../alerting/inhibit.ts";
import type { Route } from "../alerting/route.ts";
import type { Silence, WantedSilence } from "../alerting/silence.ts";
import type { Alert, EndReason, SubjectKind } from "../health/alert.ts";
import type { Subject } from "../health/evaluation.ts";
import type { QualityHistory } from "../health/quality.ts";
import type { UptimeBucket } from "../health/recording.ts";
import type { FleetSnapshot } from "../health/shard-state.ts";
import type { LocationZones } from "../health/usual-entries.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Limits } from "./limits.ts";
import type { Readiness } from "./readiness.ts";

/** An alert that is remembered, with whom it is routed to and what holds it back. */
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
  /** Came from outside: when it was last sent, how long it is believed, and whether it is still to be judged. */
  readonly external?:
    | { readonly updatedAt: Instant; readonly endsAt: Instant; readonly unprocessed: boolean }
    | undefined;
  /** Who said that they know, and when; until it resolves. */
  readonly acknowledgement?: Acknowledgement | undefined;
}

export interface Acknowledgement {
  readonly author: string;
  readonly comment: string;
  readonly at: Instant;
}

/** What is kept of a recording's uptime. */
export interface UptimeKept {
  /** The service's buckets of the last days, oldest first. */
  readonly buckets: readonly UptimeBucket[];
  /** `YYYY-MM-DD` → a day that is over: its ratio 0–1, and the segments that were expected. */
  readonly days: Readonly<Record<string, { readonly ratio: number; readonly segmentsExpected: number }>>;
  /** IANA name: in which the days are days. */
  readonly timezone: string;
  /** Readings of its quality; undefined where there were none. */
  readonly quality?: QualityHistory | undefined;
}

/** What became of a silence that was asked for. */
export type SilenceSet =
  | { readonly outcome: "set"; readonly id: string }
  | { readonly outcome: "unknown" }
  | { readonly outcome: "refused"; readonly why: string };

/** What became of alerts that were sent here. */
export type AcceptedAlerts =
  | { readonly outcome: "taken"; readonly refused: number; readonly most: number }
  | { readonly outcome: "busy" };

/** One episode of an alert, over (`endsAt`) or not. */
export interface Incident {
  readonly id: string;
  readonly alertname: string;
  readonly subject: { readonly kind: SubjectKind; readonly id: string };
  readonly locationId: string | undefined;
  readonly startsAt: Instant;
  readonly endsAt: Instant | undefined;
  readonly endReason: EndReason | undefined;
}

/** A receiver, without what is secret of it. */
export interface ShownReceiver {
  readonly name: string;
  readonly slack: readonly { readonly sendResolved: boolean }[];
  readonly email: readonly { readonly to: readonly string[]; readonly sendResolved: boolean }[];
  /** Of the URL, only its origin is ever shown. */
  readonly webhook: readonly {
    readonly url: string;
    readonly maxAlerts: number;
    readonly sendResolved: boolean;
  }[];
}

/** Of the configuration in force, what Alertmanager has words for. */
export interface ShownConfig {
  readonly route: Route;
  readonly receivers: readonly ShownReceiver[];
  readonly inhibitRules: readonly InhibitRule[];
  /** Of the password, only whether there is one is ever shown. */
  readonly smtp:
    | {
        readonly host: string;
        readonly port: number;
        readonly from: string;
        readonly username: string | undefined;
        readonly password: string | undefined;
        readonly requireTls: boolean;
      }
    | undefined;
}

/** What became of the wish to load the configuration anew; problems are a sentence each. */
export type LoadedAnew =
  | { readonly outcome: "loaded" }
  | { readonly outcome: "refused"; readonly problems: readonly string[] };

/** The metrics as a scraper wants them by its Accept header; nothing is done before `body` is read. */
export interface MetricsSource {
  expose(accept: string | undefined): { readonly contentType: string; readonly body: AsyncIterable<string> };
}

export interface HttpDeps {
  readonly listen: { readonly host: string; readonly port: number };
  /** Absent: reading is open to whoever reaches the port. */
  readonly readToken?: string | undefined;
  readonly adminToken?: string | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  /** Of lenswatch. */
  readonly version: string;
  /** Without a trailing slash; where links lead to. */
  readonly externalUrl?: string | undefined;
  /** What is slow to answer counts as not ready. */
  ready(): Promise<Readiness>;
  fleet(): Promise<FleetSnapshot>;
  alerts(): Promise<readonly ActiveAlert[]>;
  /** Remembers alerts that somebody sent, by their fingerprints; those there is no room for are counted. */
  acceptAlerts(sent: readonly (readonly [fingerprint: string, alert: SentAlert])[]): Promise<AcceptedAlerts>;
  /** Counts what was sent: alerts that fire, alerts that are over, and what was refused. */
  alertsReceived(counts: {
    readonly firing: number;
    readonly resolved: number;
    readonly invalid: number;
  }): void;
  /** By recording id; recordings of which nothing is kept are left out. */
  uptimes(ids: readonly string[]): Promise<ReadonlyMap<string, UptimeKept>>;
  /** The hours of a recording's last month, oldest first; none where the service does not tell them at once. */
  recallUptime(id: string, timezone: string): Promise<readonly UptimeBucket[]>;
  /** Every silence, also those that were over not long ago. */
  silences(): Promise<readonly Silence[]>;
  setSilence(wanted: WantedSilence): Promise<SilenceSet>;
  /** False where there is none of that id. */
  endSilence(id: string): Promise<boolean>;
  /** Gives how many alerts that fire have the fingerprint. */
  acknowledge(fingerprint: string, by: Pick<Acknowledgement, "author" | "comment">): Promise<number>;
  /** Incidents that are open, or ended at or after `since`; in any order. */
  incidents(since: Instant): Promise<readonly Incident[]>;
  /** What was decided about these subjects at or after `since`, oldest first. */
  timeline(subjects: readonly Subject[], since: Instant): Promise<readonly LogLine[]>;
  /** Zones that recordings of these locations cover, by location and recording id; what is not known is left out. */
  zones(locationIds: readonly string[]): Promise<ReadonlyMap<string, LocationZones>>;
  /** What is in force. */
  config(): ShownConfig;
  /** Reads the configuration's file again; undefined where there is none. */
  loadAnew?: (() => Promise<LoadedAnew>) | undefined;
  readonly metrics: MetricsSource;
  /** Of time and connections, where a test has less of both. */
  readonly limits?: Limits | undefined;
  /** How long what is in flight may take to end once the server closes; default 1 s. */
  readonly closeGraceMs?: number;
  /** How long `ready` may take, shorter than a probe waits; default 800 ms. */
  readonly readyDeadlineMs?: number;
  /** How long whoever sends alerts waits for them to be taken; default 5 s. */
  readonly takeDeadlineMs?: number;
  /** How long any answer but the metrics' may take before it is a 503; default 8 s. */
  readonly answerDeadlineMs?: number;
  /** How long a page waits for what it shows before it says that it cannot be read; default 3 s. */
  readonly readDeadlineMs?: number;
}
