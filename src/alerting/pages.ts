/**
 * Pages: the incidents at PagerDuty, each of the alerts that one message was the first to name. A pager rings for an
 * incident only once it is triggered, never for one that somebody acknowledged, here or there: so whatever is new, or
 * is not acknowledged any more, begins another one. Pure.
 */
import { isAcknowledged } from "./acknowledgement.ts";
import type { Notification, NotifiedAlert, NotifiedEntry, Page, PageChange, Paging } from "./model.ts";

type Content = Pick<Notification, "reason" | "firing" | "resolved" | "standing">;

/**
 * The changes that a message makes to pages. `fresh`: the key of the one that it begins. `elsewhere`: what fires
 * under a key outside of this message, as it was acknowledged; undefined: nothing.
 */
export function pagingOf(
  content: Content,
  fresh: string,
  elsewhere: (key: string) => Pick<Page, "isAcknowledged"> | undefined,
): Paging {
  const { reason, firing, resolved, standing } = content;
  const paged = [...firing.map((alert) => [alert, pageOf(alert, content, fresh)] as const), ...standing.map(pageKept)];
  const pages = new Map(paged.flatMap(([{ id }, page]) => (page ? [[id, page] as const] : [])));
  const inPage = (key: string) => (alert: NotifiedAlert) => pages.get(alert.id)?.key === key;

  function changeOf(key: string): PageChange["action"] | undefined {
    const here = [...firing, ...standing].filter(inPage(key));
    const other = elsewhere(key);
    if (here.length === 0 && !other) return "resolve";
    const rings = here.some(({ id, page }) => page?.key !== key && !pages.get(id)?.isAcknowledged);
    const isReminder = reason === "reminder" && firing.some(inPage(key));
    if (rings || isReminder) return "trigger";
    const isNow = here.every(({ id }) => pages.get(id)?.isAcknowledged) && (!other || other.isAcknowledged);
    const before = [...firing, ...standing, ...resolved].filter(({ page }) => page?.key === key);
    return isNow && !before.every(({ page }) => page?.isAcknowledged) ? "acknowledge" : undefined;
  }

  const ended = resolved.map(({ page }) => page?.key ?? fresh);
  const keys = new Set([...[...pages.values()].map(({ key }) => key), ...keysIn(content), ...ended]);
  const changes = [...keys].flatMap((key): PageChange[] => {
    const action = changeOf(key);
    const ends = resolved.filter(({ page }) => (page?.key ?? fresh) === key);
    return action ? [{ action, key, firing: firing.filter(inPage(key)), resolved: ends }] : [];
  });
  const order = ["trigger", "acknowledge", "resolve"] as const;
  return { changes: changes.sort((a, b) => order.indexOf(a.action) - order.indexOf(b.action)), pages };
}

/** The keys of the pages that the alerts of a message are in. */
export function keysIn({ firing, resolved, standing }: Omit<Content, "reason">): Set<string> {
  return new Set([...firing, ...resolved, ...standing].flatMap(({ page }) => page?.key ?? []));
}

/** The keys of the pages that an entry of the notification log is in, or may be. */
export function keysOf({ page, unsure = [] }: NotifiedEntry): string[] {
  return [...(page ? [page.key] : []), ...unsure.map(({ id }) => id)];
}

/** The page of an alert that fires unsuppressed: an update is no news and pages nobody. */
function pageOf(alert: NotifiedAlert, { reason, resolved }: Content, fresh: string): Page | undefined {
  const page = alert.page ?? (alert.isCovered && pageOfLocation(alert, resolved));
  if (reason === "update") return alert.page;
  return page && !page.isAcknowledged ? page : { key: fresh };
}

/** The page of the location's alert, which counted it. */
function pageOfLocation({ labels }: NotifiedAlert, resolved: readonly NotifiedAlert[]): Page | undefined {
  const isItsLocation = ({ subject, facts }: NotifiedAlert) =>
    facts.problem === "location_offline" && subject.id === labels.location_id;
  return resolved.find(isItsLocation)?.page;
}

/** The page of an alert that is suppressed: an acknowledgement that was sent stays, whatever suppresses the alert besides. */
function pageKept(alert: NotifiedAlert): readonly [NotifiedAlert, Page | undefined] {
  const { page } = alert;
  const isKnown = page?.isAcknowledged || isAcknowledged(alert);
  return [alert, page && { key: page.key, ...(isKnown && { isAcknowledged: isKnown }) }];
}
