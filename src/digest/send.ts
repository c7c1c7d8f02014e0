/** Makes digests from the store and sends them, once to each recipient: deliveries are stored per recipient. */
import { createHash } from "node:crypto";
import type { Config, DigestConfig } from "../config/config.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { DigestMail } from "../notify/email/send.ts";
import type { Store } from "../store/store.ts";
import type { DigestPeriod } from "./digest.ts";
import { computeFleet, type FiguresSource } from "./figures.ts";
import { letterFor, type MadeDigest, renderDigest } from "./mail.ts";
import { digestPeriod } from "./period.ts";

interface DigestDeps extends FiguresSource {
  readonly config: Pick<Config, "rules" | "http" | "digests" | "service">;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Renders the digest of the last whole period before `at`. */
export async function makeDigest(deps: DigestDeps, digest: DigestConfig, at: Instant): Promise<MadeDigest> {
  const period = digestPeriod(digest.period, at, digest.timezone);
  const computed = await computeFleet(deps, digest, period);
  const frame = { name: digest.name, externalUrl: deps.config.http.externalUrl };
  return { ...(await renderDigest(computed, frame)), unsubscribeUrl: digest.unsubscribeUrl };
}

/** Longer than a mail server may take. */
const CLAIM_MS = 60_000;
const ACCEPTED_KEPT_S = 40 * 86_400;

type Sending = { readonly name: string; readonly period: DigestPeriod; readonly to: string };

/** Gives `send(name, at)`: true once every recipient's server accepted or permanently refused it; false: try again. */
export function createDigestJob(
  deps: DigestDeps & { mail: DigestMail | undefined; isPassing(error: unknown): boolean },
) {
  const { digests } = deps.store;

  async function sendTo(mail: DigestMail, made: MadeDigest, { name, period, to }: Sending): Promise<boolean> {
    if (!(await digests.claim(name, period, to, CLAIM_MS))) return false;
    try {
      if ((await digests.accepted(name, period)).has(to)) return true;
      await mail.send(letterFor(made, to, messageIdOf(name, period, to)));
      await digests.accept(name, period, to, deps.clock.now(), ACCEPTED_KEPT_S);
      deps.log.info({ digest: name }, "digest sent");
      return true;
    } catch (thrown) {
      const retried = deps.isPassing(thrown);
      deps.log.warn({ err: toError(thrown), digest: name, retried }, "digest not accepted by the mail server");
      return !retried;
    } finally {
      await digests.release(name, period, to);
    }
  }

  return async (name: string, at: Instant): Promise<boolean> => {
    const digest = deps.config.digests.find((one) => one.name === name);
    if (!digest || !deps.mail) return true;
    const period = digestPeriod(digest.period, at, digest.timezone);
    const done = await digests.accepted(name, period);
    const waiting = digest.to.filter((recipient) => !done.has(recipient));
    if (waiting.length === 0) return true;
    const made = await makeDigest(deps, digest, at);
    let complete = true;
    for (const to of waiting) complete = (await sendTo(deps.mail, made, { name, period, to })) && complete;
    return complete;
  };
}

function messageIdOf(name: string, { from, to: end }: DigestPeriod, to: string): string {
  return createHash("sha256").update(`${name}\n${from}\n${end}\n${to}`).digest("hex").slice(0, 32);
}
