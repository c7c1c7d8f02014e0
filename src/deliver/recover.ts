/**
 * A message whose outcome is unknown, as the channel knows it: the posts of its conversation say which alerts it was
 * about, and these count as notified before the group is decided again.
 */
import { traceOf } from "../alerting/conversation.ts";
import type { FoundPost, NotificationLogEntry } from "../alerting/model.ts";
import { toNotifiedAlert } from "../alerting/needs-update.ts";
import type { Integration } from "../alerting/route.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed } from "../store/groups.ts";
import { MOST_ENDED, ownId } from "./converse.ts";
import type { DeliveryRun, RecoveredClaim } from "./model.ts";

/** Longer than clocks differ. */
const MARGIN_MS = 60_000;
const DEADLINE_MS = 5_000;
/** The most conversations asked for in one claim. */
const MOST_ASKED = 20;
/** A channel that posts and cannot be asked delays a message no longer. */
const PATIENCE_MS = 300_000;
const RETRY_MS = 5_000;
const PASSING = new Set(["network", "timeout", "rate_limited", "server_error"]);

/** `retryAt`: the channel could not be asked now. `accepted`: handles by the id of the message. */
type Recovered =
  | { readonly claims: readonly RecoveredClaim[]; readonly accepted: ReadonlyMap<string, string> }
  | { readonly retryAt: Instant };

type Posts = ReadonlyMap<string, readonly FoundPost[]>;

export async function recover(run: DeliveryRun, claims: readonly Claimed[], now: Instant): Promise<Recovered> {
  const { sender, integration } = run;
  const since = Math.min(...claims.flatMap(({ unsureSince }) => unsureSince ?? []));
  const nothing = { claims, accepted: new Map<string, string>() };
  if (!sender.find || since === Number.POSITIVE_INFINITY) return nothing;
  const posts = new Map<string, readonly FoundPost[]>();
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    for (const asked of conversationsOf(integration, claims).slice(0, MOST_ASKED)) {
      const at = since - MARGIN_MS;
      const shown = await sender.find(asked, at, { signal });
      const handle = shown?.at(-1)?.handle;
      // Only with the handle are plain replies found.
      const isNewRoot = handle !== undefined && handle !== asked.handle;
      const found = isNewRoot ? await sender.find({ ...asked, handle }, at, { signal }) : shown;
      if (!found) return nothing;
      posts.set(asked.id, found);
    }
  } catch (thrown) {
    const retryAt = notFound(run, thrown, since, now);
    return retryAt === undefined ? nothing : { retryAt };
  }
  const accepted = new Map([...posts.values()].flat().map((post) => [post.notificationId, post.handle]));
  const sharing = Map.groupBy(claims, ({ joint }) => joint);
  const groupsOf = (id: string) => sharing.get(id)?.length;
  return { claims: claims.map((claim) => withPosts(integration, claim, { posts, groupsOf, now })), accepted };
}

/** The time to ask again; undefined: the message is sent, at the risk of a repetition. */
function notFound({ deps, integration, failing }: DeliveryRun, thrown: unknown, since: Instant, now: Instant) {
  const { code, message: detail, retryAfterMs = 0 } = deps.toRefusal(thrown);
  if (PASSING.has(code) && now - since < PATIENCE_MS) return now + Math.max(RETRY_MS, retryAfterMs);
  const key = `${integration.id}\nfind`;
  const facts = { integration: integration.name, code, detail };
  deps.log[failing.has(key) ? "debug" : "warn"](facts, "reading earlier messages failed, one may be repeated");
  failing.add(key);
  return undefined;
}

/** The conversations to ask for, those of summaries first: they are few. */
function conversationsOf(integration: Integration, claims: readonly Claimed[]) {
  const unsure = claims.filter(({ unsureSince }) => unsureSince !== undefined);
  const joint = unsure.flatMap(({ joint: id }) => (id === undefined ? [] : { id, handle: undefined }));
  const own = unsure.map((claim) => ({ id: ownId(integration, claim), handle: claim.conversation?.handle }));
  return [...new Map([...joint, ...own].map((one) => [one.id, one])).values()];
}

interface Known {
  readonly posts: Posts;
  groupsOf(joint: string): number | undefined;
  readonly now: Instant;
}

/** The group as it is with what these posts were about. */
function withPosts(integration: Integration, claim: Claimed, { posts, groupsOf, now }: Known): RecoveredClaim {
  if (claim.unsureSince === undefined) return claim;
  const ids = [...(claim.joint === undefined ? [] : [claim.joint]), ownId(integration, claim)];
  const found = ids.flatMap((id) => (posts.get(id) ?? []).map((post) => ({ ...post, id })));
  const traces = new Set(found.flatMap((post) => post.alerts));
  const isKnown = !traces.has("all") && ids.every((id) => posts.has(id));
  const unknown = isKnown ? new Set(claim.inFlight) : new Set<string>();
  const maybeNotified = claim.maybeNotified.filter((id) => !unknown.has(id));
  const { begun, over } = newsOf(claim, traces);
  const isAbout = (post: FoundPost & { id: string }) =>
    post.id === ownId(integration, claim) || [...begun, ...over].some(({ id }) => isIn(post.alerts, id));
  const post = found.findLast(isAbout);
  if (!post) return { ...claim, maybeNotified };
  const isReminded = found.some(({ id, alerts }) => id === ownId(integration, claim) && alerts.length === 0);
  const reminded = isReminded ? remindedEntries(claim, now) : [];
  const entries = [...begun.map((alert) => entryOf(alert, claim.group, now)), ...reminded];
  const isOver = new Set(over.map(({ id }) => id));
  const log = new Map([...claim.notified, ...entries.map((entry) => [entry.alert.id, entry] as const)]);
  // The root may not show them yet.
  const ends = over.flatMap((alert) =>
    alert.state === "resolved" ? toNotifiedAlert(alert, { notified: log, suppressions: undefined }) : [],
  );
  for (const id of isOver) log.delete(id);
  const opened = { id: post.id, openedAt: claim.unsureSince, groups: groupsOf(post.id) };
  const ended = [...(claim.conversation?.ended ?? []), ...ends].slice(0, MOST_ENDED);
  return {
    ...claim,
    alerts: claim.alerts.filter(({ id }) => !isOver.has(id)),
    notified: log,
    maybeNotified,
    conversation: { ...opened, ...claim.conversation, handle: post.handle, ended },
    recovered: { notified: entries.filter(({ alert }) => !isOver.has(alert.id)), over: [...isOver], isKnown },
  };
}

/** Entries of a reminder, which is news of nothing: of what was due for one. */
function remindedEntries({ alerts, notified, repeatIntervalMs }: Claimed, now: Instant): NotificationLogEntry[] {
  return alerts.flatMap(({ id, state }) => {
    const entry = state === "firing" ? notified.get(id) : undefined;
    return entry && entry.notifiedAt + repeatIntervalMs <= now ? [{ ...entry, notifiedAt: now }] : [];
  });
}

/** Alerts of the group whose beginning, or end, a post was about. */
function newsOf({ alerts, notified }: Claimed, traces: ReadonlySet<string>) {
  const members = new Set(alerts.map(({ id }) => id));
  const lost = [...notified.values()].flatMap(({ alert }) => (members.has(alert.id) ? [] : alert));
  const ended = [...alerts.filter(({ state }) => state === "resolved"), ...lost];
  return {
    begun: alerts.filter(({ id }) => !notified.has(id) && traces.has(traceOf("+", id))),
    over: ended.filter(({ id }) => traces.has(traceOf("-", id))),
  };
}

function isIn(trace: readonly string[], id: string): boolean {
  return trace.includes(traceOf("+", id)) || trace.includes(traceOf("-", id));
}

/** The entry of an alert as it fired: an end that it has by now is owed. */
function entryOf(alert: Alert, groupId: string, notifiedAt: Instant): NotificationLogEntry {
  const { endsAt: _, endReason: __, ...rest } = alert;
  return { alert: { ...rest, state: "firing" }, notifiedAt, groupId };
}
