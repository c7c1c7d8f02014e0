/**
 * Links to one report that need no token and expire. A link is signed with a key derived from the token of its maker
 * (RFC 5869): nothing is stored, and a changed token ends it.
 */
import { createHmac, hkdfSync } from "node:crypto";
import { z } from "zod";
import { type AuditOrigin, personOf } from "../../alerting/audit.ts";
import { formatMatcher } from "../../alerting/matcher.ts";
import { DAY_MS, type Instant } from "../../lib/clock.ts";
import type { Report } from "../../report/report.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { type Access, type AccessToken, isSameText, scopeSet } from "../principal.ts";
import { isoTime, parseQuery } from "../query.ts";
import { withZone } from "./handover.ts";
import { operation, timeSchema } from "./operation.ts";
import { type AskedReport, ReportQuery, reportInTime } from "./report.ts";

const LINK_MS = 7 * DAY_MS;

const text = z.string().max(2_500);
/** The parameters of a link, all but the signature in the order in which they are signed. Others are ignored. */
export const SharedQuery = z.object({
  ...{ from: text, to: text, timezone: text, by: text, matchers: text, expires: text, signature: text },
});
type SharedQuery = z.infer<typeof SharedQuery>;

/** Audits and gives a link to this report, from `http.external_url` or `/` on. Throws HttpError `forbidden`. */
export function shareReport(
  { access, audit, clock, externalUrl }: Pick<HttpDeps, "access" | "audit" | "clock" | "externalUrl">,
  { period: { from, to, label } }: Report,
  { timezone, by, matchers }: AskedReport,
  origin: AuditOrigin,
) {
  const { via, name } = origin.actor;
  const token = access.tokens.find((one) => one.name === name && (via === "token" || via === "session"));
  if (!token || !scopeSet(token.scopes).has("read"))
    throw new HttpError("forbidden", "A link is signed with the token of its maker: sign in with one that may read.");
  const expires = isoTime(clock.now() + LINK_MS);
  const signed = {
    from: isoTime(from),
    to: isoTime(to),
    timezone,
    by,
    matchers: matchers.map(formatMatcher).join(","),
    expires,
  };
  const parameters = new URLSearchParams({ ...signed, signature: signatureOf(signed, token) });
  audit({
    ...origin,
    action: "report_shared",
    outcome: "done",
    target: label,
    after: { by: personOf(origin), expires },
  });
  return { url: `${externalUrl?.replace(/\/+$/, "") ?? ""}/shared/report?${parameters}`, expires };
}

/** The report that a link is about. Throws HttpError `forbidden` where it is not one of ours, or has expired. */
export function sharedReport(query: SharedQuery, { tokens }: Access, now: Instant): AskedReport {
  const { signature, expires, ...asked } = query;
  const isOurs = tokens.some(
    (one) => scopeSet(one.scopes).has("read") && isSameText(signature, signatureOf(query, one)),
  );
  if (isOurs && now < Date.parse(expires)) return { ...parseQuery(ReportQuery, asked), timezone: asked.timezone };
  throw new HttpError("forbidden", "This link has expired, or is not complete: ask for another.");
}

function signatureOf(
  { from, to, timezone, by, matchers, expires }: Omit<SharedQuery, "signature">,
  token: AccessToken,
) {
  const key = Buffer.from(hkdfSync("sha256", token.token, "lenswatch", `lenswatch report link 1 ${token.name}`, 32));
  return createHmac("sha256", key)
    .update(JSON.stringify([from, to, timezone, by, matchers, expires]))
    .digest("base64url");
}

export const ReportLink = z.strictObject({ url: z.string(), expires: timeSchema }).readonly();

export const linkReport = operation({
  id: "linkReport",
  method: "post",
  path: "/api/v1/report/links",
  lane: "reports",
  scope: "read",
  summary: "Makes a link to a report that needs no token, for 7 days or until the token that made it changes.",
  query: z.strictObject(ReportQuery.shape),
  answer: ReportLink,
  async handle(deps, { query: asked, by }) {
    const query = withZone(asked, deps.config().display?.timezone);
    return shareReport(deps, await reportInTime(deps, query), query, by);
  },
});
