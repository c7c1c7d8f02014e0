/** Reads `POST /api/v2/alerts` by Alertmanager's rules (its api/v2/api.go, `postAlertsHandler`), alert by alert. */
import { z } from "zod";
import { RESOLVE_TIMEOUT_MS, type SentAlert } from "../../alerting/external-alerts.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Labels } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import { eachRow } from "../../lib/yield.ts";
import { issueText } from "../query.ts";
import { goTime } from "./silences.ts";

/** Prometheus sends 256 at once. */
export const MOST_AT_ONCE = 2_000;
const MOST_LABELS = 64;
/** With those that are empty. */
const MOST_SENT = 256;
const LONGEST_NAME = 200;
/** Regular expressions of 500 parts match one in about 20 ms. */
const LONGEST_LABEL = 1_024;
/** Characters of all labels and annotations of an alert together. */
const LARGEST_ALERT = 16_384;
const LONGEST_URL = 2_000;
/** Problems that are named; the others are counted. */
const NAMED_PROBLEMS = 5;

/** Names and values; an empty value is no label. */
function labelSet(what: string) {
  return z
    .unknown()
    .refine((given) => Object.keys(Object(given)).length <= MOST_SENT, `expected at most ${MOST_LABELS} ${what}s`)
    .pipe(z.record(z.string(), z.string({ error: "expected a text" }), { error: `expected ${what}s, texts by name` }))
    .transform((given): Labels => {
      const entries = Object.entries(given).filter(([, value]) => value !== "");
      return Object.fromEntries(entries.map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]));
    })
    .refine((labels) => Object.keys(labels).length <= MOST_LABELS, `expected at most ${MOST_LABELS} ${what}s`)
    .refine(
      (labels) => Object.keys(labels).every((name) => name !== "" && name.length <= LONGEST_NAME),
      `expected names of 1 to ${LONGEST_NAME} characters`,
    );
}

const labels = labelSet("label")
  .refine((given) => Object.keys(given).length > 0, "expected at least one label that is not empty")
  .refine(
    (given) => Object.values(given).every((value) => value.length <= LONGEST_LABEL),
    `expected values of at most ${LONGEST_LABEL} characters`,
  );

const webUrl = z.url({ protocol: /^https?$/ }).max(LONGEST_URL);

/** Anything but a web link is dropped rather than refused. */
const generatorUrl = z
  .string({ error: "expected a URL" })
  .nullish()
  .transform((text) => webUrl.safeParse(text).data);

const PostableAlert = z
  .object({
    labels,
    annotations: labelSet("annotation").nullish(),
    startsAt: goTime.nullish(),
    endsAt: goTime.nullish(),
    generatorURL: generatorUrl,
  })
  .refine(
    (alert) => JSON.stringify([alert.labels, alert.annotations]).length <= LARGEST_ALERT,
    `expected at most ${LARGEST_ALERT} characters of labels and annotations`,
  );

/** The valid alerts of a body, in its order, and what is wrong with the others. */
export interface PostedAlerts {
  readonly alerts: readonly (readonly [fingerprint: string, alert: SentAlert])[];
  /** A text for the client; undefined where nothing is wrong. */
  readonly problem: string | undefined;
}

/** Reads the alerts one by one; yields after each. */
export function* readAlerts(body: readonly unknown[], now: Instant): Generator<void, PostedAlerts> {
  const alerts: (readonly [string, SentAlert])[] = [];
  const problems: string[] = [];
  const visit = ([i, given]: [number, unknown]) => {
    const read = readAlert(given, now);
    if (typeof read === "string") problems.push(`${i}.${read}`);
    else alerts.push([fingerprint(read.labels), read]);
  };
  yield* eachRow(body.entries(), visit, 1);
  return { alerts, problem: problems.length === 0 ? undefined : problemText(problems) };
}

function problemText(problems: readonly string[]): string {
  const more = problems.length - NAMED_PROBLEMS;
  return `${problems.slice(0, NAMED_PROBLEMS).join(" ")}${more > 0 ? ` And ${more} more alerts are wrong.` : ""}`;
}

function readAlert(given: unknown, now: Instant): SentAlert | string {
  const { data, error } = PostableAlert.safeParse(given);
  if (!data) return issueText(error);
  const startsAt = data.startsAt ?? data.endsAt ?? now;
  const endsAt = data.endsAt ?? now + RESOLVE_TIMEOUT_MS;
  if (endsAt < startsAt) return "startsAt: expected a time before endsAt.";
  return {
    labels: data.labels,
    annotations: data.annotations ?? {},
    startsAt,
    endsAt,
    isTimeout: data.endsAt == null,
    generatorUrl: data.generatorURL,
  };
}
