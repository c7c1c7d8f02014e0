/** The Slack app: each beginning and end may be posted once, whatever was killed, and roots show what is true. Pure. */
import { START_TITLE } from "../../test/support/slack-sink.ts";
import type { Verdict } from "./audit.ts";
import { type AppLog, type AppPost, type AppRoot, byTrace } from "./notices.ts";

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
      const { status, episode } = known.get(trace) ?? {};
      const why = `posted again (${status ?? "unknown"}), first at ${new Date(before.at).toISOString()}`;
      return [{ ...about(post, episode?.recordingId ?? trace), kind: "repeated", why }];
    }),
  );
}

/** A root is closed once everything that its conversation was about has ended, and no sooner. */
function staleRoots({ posts, roots, episodes }: AppLog): Verdict[] {
  const known = byTrace(episodes);
  const said = posts.flatMap(({ integration, conversation, traces }) =>
    traces.flatMap((trace) => {
      const { status, episode } = known.get(trace) ?? {};
      return episode
        ? [{ status, conversation: `${integration} ${conversation}`, key: `${integration} ${episode.id}` }]
        : [];
    }),
  );
  const over = new Set(said.flatMap(({ status, key }) => (status === "resolved" ? [key] : [])));
  const byConversation = Map.groupBy(said, ({ conversation }) => conversation);
  return roots.flatMap((root): Verdict[] => {
    // The summary of a cold start, whose alerts have threads of their own.
    if (root.text.includes(START_TITLE)) return [];
    const own = byConversation.get(`${root.integration} ${root.conversation}`) ?? [];
    const fires = own.some(({ status, key }) => status === "firing" && !over.has(key));
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
