/** Which active alerts need somebody. The status page, the API, the command line and messages count with it. */
import type { Alert } from "../health/alert.ts";
import { count } from "../lib/format.ts";

/** The ways in which an alert is handled, or needs nobody; in the order they are named where several apply. */
const handledAttentions = ["silenced", "acknowledged", "maintenance", "inhibited", "muted", "paused"] as const;
type Handled = (typeof handledAttentions)[number];
export const attentions = [...handledAttentions, "needed"] as const;
export type Attention = (typeof attentions)[number];

/** The suppressions of an active alert; empty lists count as absent. */
export interface Suppressors {
  readonly silencedBy?: readonly unknown[] | undefined;
  readonly inhibitedBy?: readonly unknown[] | undefined;
  readonly mutedBy?: readonly unknown[] | undefined;
  readonly maintenance?: unknown;
  readonly acknowledgement?: unknown;
  readonly isPaused?: boolean | undefined;
}

/** All that apply. What people did comes before what another alert explains, which changes with that one. */
export function attentionsOf(of: Suppressors): Handled[] {
  const applies: Readonly<Record<Handled, unknown>> = {
    silenced: of.silencedBy?.length,
    acknowledged: of.acknowledgement,
    maintenance: of.maintenance,
    inhibited: of.inhibitedBy?.length,
    muted: of.mutedBy?.length,
    paused: of.isPaused,
  };
  return handledAttentions.filter((one) => applies[one]);
}

/** An alert that is inhibited is not counted with those that need somebody. */
export function attentionOf(of: Suppressors): Attention {
  return attentionsOf(of)[0] ?? "needed";
}

/** The attention that an alert needs, with its suppressions. */
export function attentionTo(
  active: Omit<Suppressors, "isPaused"> & { readonly alert: Pick<Alert, "facts"> },
): Attention {
  return attentionOf({ ...active, isPaused: active.alert.facts.paused });
}

/** The alerts that need somebody. */
export function neededOf<A extends Pick<Alert, "facts">>(
  active: readonly (Omit<Suppressors, "isPaused"> & { readonly alert: A })[],
): A[] {
  return active.filter((one) => attentionTo(one) === "needed").map(({ alert }) => alert);
}

/** The words of headlines and lists; an alert that is inhibited is suppressed by another one. */
export const HANDLED_WORDS: Readonly<Record<Handled, string>> = {
  acknowledged: "acknowledged",
  silenced: "silenced",
  maintenance: "in maintenance",
  muted: "muted",
  paused: "outside the schedule",
  inhibited: "suppressed by another alert",
};

/** `26 need attention`. */
export function neededPhrase(n: number): string {
  return `${count(n)} ${n === 1 ? "needs" : "need"} attention`;
}

/** `3 acknowledged, 12 suppressed by another alert`; empty where nothing is. */
export function handledPhrase(handled: ReadonlyMap<Attention, number>): string {
  const all = Object.entries(HANDLED_WORDS).map(
    ([kind, words]) => [handled.get(kind as Attention) ?? 0, words] as const,
  );
  return all.flatMap(([n, words]) => (n === 0 ? [] : [`${count(n)} ${words}`])).join(", ");
}

/** Alerts about lenswatch itself are the loudest, and never part of an incident of others. */
export function isOfLenswatch({ subject }: Pick<Alert, "subject">): boolean {
  return ["service", "integration", "directory"].includes(subject.kind);
}
