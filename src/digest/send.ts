/** Makes digests from the store and sends them, once to each recipient: deliveries are stored per recipient. */
import { createHash } from "node:crypto";
import { plainText } from "../alerting/document.ts";
import type { Integration } from "../alerting/route.ts";
import type { Config, DigestConfig } from "../config/config.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { renderHtml } from "../notify/email/render.ts";
import type { DigestMail } from "../notify/email/send.ts";
import type { Notifier } from "../notify/notifier.ts";
import type { Store } from "../store/store.ts";
import type { DigestPeriod } from "./digest.ts";
import { computeFleet, type FiguresSource } from "./figures.ts";
import { letterFor, type MadeDigest, renderDigest } from "./mail.ts";
import { periodOf } from "./period.ts";
import { readHandover } from "./read-handover.ts";

interface DigestDeps extends FiguresSource {
  readonly config: Pick<Config, "http" | "digests" | "service" | "maintenance">;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly renderHtml: typeof renderHtml;
}

/** Renders the digest of the last whole period, or of the last shift, before `at`. */
export async function makeDigest(deps: DigestDeps, digest: DigestConfig, at: Instant): Promise<MadeDigest> {
  const { name, period, unsubscribeUrl } = digest;
  const within = periodOf(digest, at);
  if (period === "shift") {
    const document = await readHandover(deps, within, digest.timezone);
    const html = deps.renderHtml(document, `Sent by lenswatch as the digest ${name}.`);
    return { document, subject: document.title, html, text: plainText(document), unsubscribeUrl };
  }
  const computed = await computeFleet(deps, digest, within);
  const frame = { name, externalUrl: deps.config.http.externalUrl };
  return { ...(await renderDigest(computed, frame)), unsubscribeUrl };
}

/** Longer than a mail server may take. */
const CLAIM_MS = 60_000;
const POST_TIMEOUT_MS = 10_000;
const ACCEPTED_KEPT_S = 40 * 86_400;

/** `post`: for a Slack channel, whose integration `to` names. */
interface Sending {
  readonly name: string;
  readonly period: DigestPeriod;
  readonly to: string;
  readonly post: Notifier["post"] | undefined;
}

type JobDeps = DigestDeps & {
  mail: DigestMail | undefined;
  /** By id, of all receivers. */
  readonly byId: ReadonlyMap<
    string,
    Pick<Notifier, "post"> & { readonly integration: Pick<Integration, "id" | "receiver"> }
  >;
  isPassing(error: unknown): boolean;
};

/** Gives `send(name, at)`: true once every recipient's server accepted or permanently refused it; false: try again. */
export function createDigestJob(deps: JobDeps) {
  const { digests } = deps.store;

  async function sendTo(made: MadeDigest, { name, period, to, post }: Sending): Promise<boolean> {
    if (!(await digests.claim(name, period, to, CLAIM_MS))) return false;
    try {
      if ((await digests.accepted(name, period)).has(to)) return true;
      if (post && made.document) await post(made.document, { signal: AbortSignal.timeout(POST_TIMEOUT_MS) });
      else await deps.mail?.send(letterFor(made, to, messageIdOf(name, period, to)));
      await digests.accept(name, period, to, deps.clock.now(), ACCEPTED_KEPT_S);
      deps.log.info({ digest: name }, "digest sent");
      return true;
    } catch (thrown) {
      const retried = deps.isPassing(thrown);
      deps.log.warn({ err: toError(thrown), digest: name, retried }, "digest not accepted");
      return !retried;
    } finally {
      await digests.release(name, period, to);
    }
  }

  return async (name: string, at: Instant): Promise<boolean> => {
    const digest = deps.config.digests.find((one) => one.name === name);
    if (!digest) return true;
    const period = periodOf(digest, at);
    const done = await digests.accepted(name, period);
    const mails = deps.mail ? digest.to.map((to) => ({ to, post: undefined })) : [];
    const posts = deps.byId.values().flatMap(({ integration: { id, receiver }, post }) => {
      return post && receiver === digest.slack ? [{ to: id, post }] : [];
    });
    const waiting = [...mails, ...posts].filter(({ to }) => !done.has(to));
    if (waiting.length === 0) return true;
    const made = await makeDigest(deps, digest, at);
    let complete = true;
    for (const one of waiting) complete = (await sendTo(made, { ...one, name, period })) && complete;
    return complete;
  };
}

function messageIdOf(name: string, { from, to: end }: DigestPeriod, to: string): string {
  return createHash("sha256").update(`${name}\n${from}\n${end}\n${to}`).digest("hex").slice(0, 32);
}
