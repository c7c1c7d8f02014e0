/**
 * Digests: made from what is remembered, sent to each recipient once. What a mail server refuses for now is tried
 * again with a back-off; who has it already is written down per recipient.
 */
import { createHash } from "node:crypto";
import type { Config, DigestConfig } from "../config/config.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import { attachmentsOf } from "./attachments.ts";
import { addEntries } from "./entries.ts";
import { computeFleet, type Fleet } from "./figures.ts";
import { type DigestMail, letterFor, type MadeDigest } from "./mail.ts";
import { digestPeriod } from "./period.ts";
import { renderDigest } from "./render/render.ts";

export interface DigestDeps {
  readonly config: Pick<Config, "rules" | "http" | "digests" | "service">;
  readonly store: Store;
  readonly service: Pick<Service, "entries">;
  readonly clock: Clock;
  readonly log: Logger;
  fleet(): Promise<Fleet>;
}

const DIGESTS_KEPT_S = 40 * 86_400;

/** Renders the digest for the last whole period before `at`. */
export async function makeDigest(deps: DigestDeps, digest: DigestConfig, at: Instant): Promise<MadeDigest> {
  const period = digestPeriod(digest.period, at, digest.timezone);
  const { service, store, clock, log } = deps;
  const figures = await computeFleet(deps, digest, period);
  const computed = await addEntries({ service, store: store.entries, clock, log }, figures);
  const frame = { name: digest.name, externalUrl: deps.config.http.externalUrl };
  const { unsubscribeUrl } = digest;
  const attachments = await attachmentsOf(digest.name, computed);
  return { ...(await renderDigest(computed, frame)), attachments, unsubscribeUrl, periodEnd: period.end };
}

/** Longer than a mail server may take. */
const CLAIM_MS = 60_000;

/** Gives `send(name, at)`: true once every recipient has it or was given up; false: try again. */
export function createDigestJob(
  deps: DigestDeps & { mail: DigestMail | undefined; isPassing(error: unknown): boolean },
) {
  const { digests } = deps.store;

  /** True once the recipient has it or was given up. */
  async function sendTo(mail: DigestMail, made: MadeDigest, name: string, to: string): Promise<boolean> {
    const { periodEnd } = made;
    if (!(await digests.claim(name, periodEnd, to, CLAIM_MS))) return false;
    try {
      if ((await digests.accepted(name, periodEnd)).has(to)) return true;
      await mail.send(letterFor(made, to, messageIdOf(name, periodEnd, to)));
      await digests.accept(name, periodEnd, to, deps.clock.now(), DIGESTS_KEPT_S);
      deps.log.info({ digest: name }, "digest sent");
      return true;
    } catch (thrown) {
      const passing = deps.isPassing(thrown);
      const next = passing ? "it is tried again" : "it is given up for this recipient";
      deps.log.warn({ err: toError(thrown), digest: name, next }, "a digest was not accepted");
      return !passing;
    } finally {
      await digests.release(name, periodEnd, to);
    }
  }

  return async (name: string, at: Instant): Promise<boolean> => {
    const digest = deps.config.digests.find((one) => one.name === name);
    if (!digest || !deps.mail) return true;
    const { end } = digestPeriod(digest.period, at, digest.timezone);
    const done = await digests.accepted(name, end);
    const waiting = digest.to.filter((recipient) => !done.has(recipient));
    if (waiting.length === 0) return true;
    const made = await makeDigest(deps, digest, at);
    let complete = true;
    for (const to of waiting) complete = (await sendTo(deps.mail, made, name, to)) && complete;
    return complete;
  };
}

function messageIdOf(name: string, periodEnd: Instant, to: string): string {
  return createHash("sha256").update(`${name}\n${periodEnd}\n${to}`).digest("hex").slice(0, 32);
}
