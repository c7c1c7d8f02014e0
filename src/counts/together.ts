/**
 * Causes that locations share. Assumed: most locations of an organisation, a time zone or a country do not fail at once; they
 * close, or the service counts nothing. So a drop that most of them share is about none of them, and one that some share
 * may be a regional holiday: then a location has to be contradicted by a witness of its own.
 */
import type { Instant } from "../lib/clock.ts";
import type { SiteAssessment } from "./evaluate.ts";
import { LONGEST_MS, type ProfileSpan, profileSpan, readProfile } from "./profile.ts";
import type { Sum } from "./track.ts";
import type { CountsVerdict, DroppedTogether, SubjectVerdict } from "./verdict.ts";

/** The share of the locations that can be compared, and so many at least. */
const MOST = { share: 0.5, least: 3 } as const;
const SOME = { share: 0.1, least: 3 } as const;
/** Less is expected where nothing can be compared. */
const ENOUGH = 8;
/** Counted, relative to what is usual: fell, as usual. */
const FELL = 1 / 3;
const USUAL = { least: 0.5, most: 1.5 } as const;

type State = "changed" | "usual" | "unknown";

interface Crowd {
  readonly label: string;
  readonly value: string;
  readonly since: Instant;
  readonly changed: readonly { readonly locationId: string; readonly sum: Sum }[];
  /** Locations that changed, and those whose counts are as usual. */
  readonly judged: number;
}

/** Replaces what most locations of a group share by one finding about the group. All of one rule, at one instant. */
export function judgeTogether(
  assessments: readonly SiteAssessment[],
  now: Instant,
): { readonly verdicts: readonly SubjectVerdict[]; readonly together: readonly DroppedTogether[] } {
  const { judge, together } = createJudgement(assessments, now);
  return { verdicts: assessments.flatMap(judge), together: together() };
}

/** The same in steps, for large fleets: `judge` each site, then ask for what they share. */
export function createJudgement(assessments: readonly SiteAssessment[], now: Instant) {
  const crowdsOf = createCrowds(assessments, now);
  const largest = new Map<string, Crowd>();
  const note = (crowd: Crowd) => {
    const key = `${crowd.label}/${crowd.value}`;
    const known = largest.get(key);
    if (!known || bySize(crowd, known) < 0) largest.set(key, crowd);
  };
  return {
    judge: (site: SiteAssessment): SubjectVerdict[] =>
      site.verdicts.map((own) => {
        // An alert that fires for longer than can be compared does not end with a holiday.
        const isOlder = own.firingSince !== undefined && own.firingSince < now - LONGEST_MS;
        const crowds = own.fall && !isOlder ? crowdsOf(site, own) : [];
        const most = crowds.filter((crowd) => isShared(crowd, MOST));
        most.forEach(note);
        return { ...own, verdict: amongOthers(own.verdict, most, crowds) };
      }),
    together: (): DroppedTogether[] => withoutRepetition([...largest.values()]).map(togetherOf),
  };
}

function isShared({ changed, judged }: Crowd, { share, least }: typeof MOST | typeof SOME): boolean {
  return changed.length >= least && changed.length >= judged * share;
}

function amongOthers(own: CountsVerdict, most: readonly Crowd[], crowds: readonly Crowd[]): CountsVerdict {
  if (own.is !== "implausible") return own;
  if (most.length > 0) return { is: "plausible", reason: "dropped_together" };
  const isSome = own.finding.reason === "beyond_chance" && crowds.some((crowd) => isShared(crowd, SOME));
  return isSome ? { is: "undecided", reason: "others_dropped_too" } : own;
}

/** Gives the groups of a site as they are since its own counts changed: entries for all, zones for recordings besides. */
function createCrowds(assessments: readonly SiteAssessment[], now: Instant) {
  // A drop of a large fleet has thousands of beginnings and few spans.
  const known = new Map<string, Pick<Crowd, "changed" | "judged">>();
  const members = new Map<string, readonly SiteAssessment[]>();
  const membersOf = (label: string, value: string) => {
    const key = `${label}/${value}`;
    const all = members.get(key) ?? assessments.filter(({ groups }) => groups[label] === value);
    members.set(key, all);
    return all;
  };
  return ({ groups }: SiteAssessment, { subject, fall }: SubjectVerdict): Crowd[] => {
    const since = fall?.since ?? now;
    const span = profileSpan(now - since);
    const compared = subject.recordingId === undefined ? (["entries"] as const) : (["entries", "zones"] as const);
    return compared.flatMap((what) =>
      Object.entries(groups).map(([label, value]) => {
        const key = `${what}/${JSON.stringify(span)}/${label}/${value}`;
        const crowd = known.get(key) ?? crowdOf(membersOf(label, value), what, span);
        known.set(key, crowd);
        return { label, value, since, ...crowd };
      }),
    );
  };
}

function crowdOf(
  members: readonly SiteAssessment[],
  what: "entries" | "zones",
  span: ProfileSpan,
): Pick<Crowd, "changed" | "judged"> {
  const changed: { locationId: string; sum: Sum }[] = [];
  let usual = 0;
  for (const { locationId, profiles } of members) {
    const { since, before } = readProfile(profiles[what], span);
    // A change long before has nothing to do with it.
    const state = stateOf(before) === "changed" ? "unknown" : stateOf(since);
    if (state === "changed") changed.push({ locationId, sum: since });
    if (state === "usual") usual++;
  }
  return { changed, judged: changed.length + usual };
}

function stateOf({ expected, counted }: Sum): State {
  if (expected < ENOUGH) return "unknown";
  if (counted <= expected * FELL) return "changed";
  return counted >= expected * USUAL.least && counted <= expected * USUAL.most ? "usual" : "unknown";
}

/** One of each group; one whose locations are all in a larger one says nothing more. */
function withoutRepetition(crowds: readonly Crowd[]): Crowd[] {
  const kept: { readonly crowd: Crowd; readonly locations: ReadonlySet<string> }[] = [];
  for (const crowd of crowds.toSorted(bySize)) {
    const locations = new Set(crowd.changed.map(({ locationId }) => locationId));
    if (!kept.some((one) => locations.isSubsetOf(one.locations))) kept.push({ crowd, locations });
  }
  return kept.map(({ crowd }) => crowd);
}

/** The largest first. */
function bySize(a: Crowd, b: Crowd): number {
  return b.changed.length - a.changed.length || a.since - b.since;
}

function togetherOf({ label, value, since, changed, judged }: Crowd): DroppedTogether {
  const total = (of: keyof Sum) => changed.reduce((sum, one) => sum + one.sum[of], 0);
  const dropped = changed.map(({ locationId }) => locationId);
  return { label, value, since, dropped, judged, expected: total("expected"), counted: total("counted") };
}
