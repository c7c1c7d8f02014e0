/** What was accepted, as notices: the alerts of webhooks' payloads, and the episodes that posts of the Slack app name. Pure. */
import { z } from "zod";
import { traceOf } from "../../src/alerting/conversation.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { HttpPost } from "../../test/support/http-sink.ts";

/** An alert in an accepted message. */
export interface Notice {
  readonly at: Instant;
  /** `webhook/3`, `app/0`, `phone/1`. */
  readonly integration: string;
  /** Number of the message, the same for all its alerts. */
  readonly message: number;
  readonly rule: string;
  /** Empty where the alert is about something else. */
  readonly recordingId: string;
  readonly status: "firing" | "resolved";
  readonly startsAt: Instant;
  /** Undefined: it fires. */
  readonly endsAt: Instant | undefined;
}

/** One time in which an alert about a recording fired. */
export interface Episode extends Pick<Notice, "recordingId" | "startsAt" | "endsAt"> {
  readonly id: string;
  readonly locationId: string;
  readonly location: string;
}

export interface AppPost {
  readonly at: Instant;
  /** `app/0`. */
  readonly integration: string;
  readonly conversation: string;
  readonly traces: readonly string[];
  /** Unlike that of any other message. */
  readonly number: number;
}

/** The first message of a conversation, as it is shown now. */
export interface AppRoot {
  readonly at: Instant;
  readonly integration: string;
  readonly conversation: string;
  readonly text: string;
  readonly hasButtons: boolean;
}

export interface AppLog {
  readonly posts: readonly AppPost[];
  readonly roots: readonly AppRoot[];
  /** All there were, by id. */
  readonly episodes: ReadonlyMap<string, Episode>;
}

const Time = z.iso.datetime().transform((text) => Date.parse(text));
const Payload = z.object({
  alerts: z.array(
    z.object({
      status: z.enum(["firing", "resolved"]),
      labels: z.object({ alertname: z.string(), recording_id: z.string().default("") }),
      startsAt: Time,
      endsAt: Time,
    }),
  ),
});

/** The alerts of a webhook's payload; its path is the integration. */
export function readPayload({ path, text, receivedAt: at }: HttpPost, message: number): Notice[] {
  return Payload.parse(JSON.parse(text)).alerts.map(({ status, labels, startsAt, endsAt }) => ({
    at,
    integration: path.slice(1),
    message,
    rule: labels.alertname,
    recordingId: labels.recording_id,
    status,
    startsAt,
    endsAt: status === "firing" ? undefined : endsAt,
  }));
}

/** The beginning (`firing`) or end of an episode. */
export type Said = Pick<Notice, "status"> & { readonly episode: Episode };

export function byTrace(episodes: AppLog["episodes"]): ReadonlyMap<string, Said> {
  const signs = [
    ["+", "firing"],
    ["-", "resolved"],
  ] as const;
  const all = [...episodes.values()].flatMap((episode) =>
    signs.map(([sign, status]) => [traceOf(sign, episode.id), { status, episode }] as const),
  );
  return new Map(all);
}

/** The posts of the Slack app as notices; `unknown`: traces of no alert. */
export function noticesOfApp({ posts, episodes }: AppLog): { notices: Notice[]; unknown: string[] } {
  const known = byTrace(episodes);
  const unknown: string[] = [];
  const notices = posts.flatMap(({ at, integration, number: message, traces }) =>
    traces.flatMap((trace): Notice[] => {
      const said = known.get(trace);
      if (!said) unknown.push(`${integration} ${new Date(at).toISOString()}: it is about ${trace}, which is no alert`);
      if (!said) return [];
      const { status, episode } = said;
      const { recordingId, startsAt } = episode;
      const endsAt = status === "firing" ? undefined : (episode.endsAt ?? at);
      return [{ at, integration, message, rule: "RecordingOffline", recordingId, status, startsAt, endsAt }];
    }),
  );
  return { notices, unknown };
}
