/**
 * What the Slack app posted, as notices: the metadata of each post names the episodes whose beginning or end it is
 * about, also in a summary. Each may be said once, whatever was killed. Pure.
 */
import { traceOf } from "../../src/alerting/conversation.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { START_TITLE } from "../../test/support/slack-sink.ts";
import type { Verdict } from "./audit.ts";
import { type Notice, type NoticeKind, readSlack } from "./messages.ts";

export interface AppPost {
  readonly at: Instant;
  /** `app/0`. */
  readonly integration: string;
  readonly conversation: string;
  readonly traces: readonly string[];
  /** Its text as posted, without later edits. */
  readonly text: string;
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

/** One time in which an alert about a recording fired. */
export interface Episode {
  readonly id: string;
  readonly recordingId: string;
  readonly recording: string;
  readonly locationId: string;
  readonly location: string;
  readonly isFlapping: boolean;
  readonly startsAt: Instant;
  /** Undefined: it fires. */
  readonly endsAt: Instant | undefined;
}

export interface AppLog {
  readonly posts: readonly AppPost[];
  readonly roots: readonly AppRoot[];
  /** All there were, by id. */
  readonly episodes: ReadonlyMap<string, Episode>;
}

interface Said {
  readonly sign: "+" | "-";
  readonly episode: Episode;
}

/** The posts as notices for the audit of each recording. */
export function noticesOfApp({ posts, episodes }: AppLog): { notices: Notice[]; unreadable: string[] } {
  const known = byTrace(episodes);
  const begun = new Set<string>();
  const unreadable: string[] = [];
  const notices = posts.flatMap((post) => {
    const { at, integration, number: message } = post;
    if (post.traces.length === 0) return remindersIn(post, episodes);
    return post.traces.flatMap((trace): Notice[] => {
      const said = known.get(trace);
      if (!said) {
        unreadable.push(`${integration} ${new Date(at).toISOString()}: it is about ${trace}, which is no alert`);
        return [];
      }
      const { sign, episode } = said;
      const key = `${integration} ${episode.id}`;
      const kind = kindOf(said, begun.has(key));
      if (sign === "+") begun.add(key);
      const to = sign === "+" ? at : (episode.endsAt ?? at);
      return [{ ...lineOf(episode, to), at, integration, message, kind }];
    });
  });
  return { notices, unreadable };
}

function kindOf({ sign, episode: { isFlapping } }: Said, wasBegun: boolean): NoticeKind {
  if (sign === "+") return isFlapping ? "flapping" : "firing";
  if (isFlapping) return "steady";
  return wasBegun ? "recovered" : "late";
}

function lineOf({ recording: subject, startsAt }: Episode, to: Instant) {
  const lastedMs = Math.max(0, Math.floor((to - startsAt) / 1_000) * 1_000);
  return { subject, lastedMs, beganMinute: new Date(startsAt).getUTCMinutes() };
}

/** A reminder is news of nothing; its text has what still fires. */
function remindersIn({ at, integration, number: message, text }: AppPost, episodes: AppLog["episodes"]): Notice[] {
  const names = new Set([...episodes.values()].map(({ recording }) => recording));
  const lines = text.startsWith("Reminder", 2) || text.includes("Reminder:") ? readSlack(text, names).lines : [];
  const isKnown = ({ kind, subject }: (typeof lines)[number]) => kind === "still" && names.has(subject);
  return lines.filter(isKnown).map((line) => ({ ...line, at, integration, message }));
}

function byTrace(episodes: AppLog["episodes"]): ReadonlyMap<string, Said> {
  const signs = ["+", "-"] as const;
  return new Map(
    [...episodes.values()].flatMap((episode) =>
      signs.map((sign) => [traceOf(sign, episode.id), { sign, episode }] as const),
    ),
  );
}

/** When each alert was first said to fire. */
export function beginnings({ posts, episodes }: AppLog) {
  const known = byTrace(episodes);
  return posts.flatMap(({ at, integration, traces }) =>
    traces.flatMap((trace) => {
      const said = known.get(trace);
      return said?.sign === "+" ? [{ at, integration, episode: said.episode }] : [];
    }),
  );
}

/** What was said twice, and roots that do not show what is true at the end. */
export function auditApp(log: AppLog): Verdict[] {
  return [...repeated(log), ...staleRoots(log)];
}

function repeated({ posts, episodes }: AppLog): Verdict[] {
  const known = byTrace(episodes);
  const first = new Map<string, AppPost>();
  return posts.flatMap((post) =>
    post.traces.flatMap((trace): Verdict[] => {
      const key = `${post.integration} ${trace}`;
      const before = first.get(key);
      first.set(key, before ?? post);
      if (!before) return [];
      const { sign, episode } = known.get(trace) ?? {};
      const why = `posted again (${sign === "-" ? "end" : "beginning"}), first at ${new Date(before.at).toISOString()}`;
      return [{ ...about(post, episode?.recording ?? trace), kind: "repeated", why }];
    }),
  );
}

/** A root is closed once everything that its conversation was about has ended, and no sooner. */
function staleRoots({ posts, roots, episodes }: AppLog): Verdict[] {
  const known = byTrace(episodes);
  const over = new Set(
    posts.flatMap(({ integration, traces }) =>
      traces.flatMap((trace) => {
        const said = known.get(trace);
        return said?.sign === "-" ? [`${integration} ${said.episode.id}`] : [];
      }),
    ),
  );
  const talks = Map.groupBy(posts, ({ integration, conversation }) => `${integration} ${conversation}`);
  return roots.flatMap((root): Verdict[] => {
    // What fires at a cold start has threads of its own.
    if (root.text.includes(START_TITLE)) return [];
    const said = (talks.get(`${root.integration} ${root.conversation}`) ?? []).flatMap(({ traces }) => traces);
    const fires = said.some((trace) => {
      const one = known.get(trace);
      return one?.sign === "+" && !over.has(`${root.integration} ${one.episode.id}`);
    });
    const isClosed = root.text.startsWith("✅") && !root.hasButtons;
    if (isClosed !== fires) return [];
    const [title = ""] = root.text.split("\n");
    const why = `its root shows ${JSON.stringify(title)}, though ${fires ? "something fires" : "all is over"}`;
    return [{ ...about(root, root.conversation), kind: "stale", why }];
  });
}

function about({ at, integration }: AppPost | AppRoot, subject: string) {
  return { at, integration, subject };
}
