/** Reading alerts and groups as Alertmanager's clients do, and accepting alerts as Prometheus posts them. */
import type { FastifyInstance } from "fastify";
import type { Instant } from "../../lib/clock.ts";
import { withDeadline } from "../../lib/closer.ts";
import { bytesOf, jsonList, runYielding } from "../../lib/yield.ts";
import type { AcceptedAlerts } from "../../poll/external-alerts.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { limitsOf } from "../limits.ts";
import { parseQuery } from "../query.ts";
import { AlertsQuery, alertGroups, GroupsQuery, gettableAlerts } from "./alerts.ts";
import { MOST_AT_ONCE, type PostedAlerts, readAlerts } from "./postable-alerts.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const LARGEST_BODY = 2 * 1024 * 1024;

export type AlertRoutesDeps = Pick<
  HttpDeps,
  "alerts" | "overview" | "acceptAlerts" | "alertsReceived" | "config" | "clock" | "externalUrl" | "limits"
>;

type Accepted = Extract<AcceptedAlerts, { outcome: "taken" }>;

/** `base` is the path of the API, with a trailing slash. */
export function alertRoutes(app: FastifyInstance, base: string, deps: AlertRoutesDeps): void {
  const context = () => ({ now: deps.clock.now(), externalUrl: deps.externalUrl });

  app.get(`${base}alerts`, { exposeHeadRoute: false }, async ({ query, signal }, reply) => {
    const parsed = parseQuery(AlertsQuery, query);
    const alerts = await runYielding(gettableAlerts(await deps.alerts(), parsed, context()), signal);
    return reply.type(JSON_TYPE).send(await runYielding(bytesOf(jsonList(alerts)), signal));
  });

  app.get(`${base}alerts/groups`, { exposeHeadRoute: false }, async ({ query, signal }, reply) => {
    const parsed = parseQuery(GroupsQuery, query);
    const { route } = deps.config();
    const { inventory: directory } = await deps.overview();
    const asked = { ...context(), route, directory };
    const groups = await runYielding(alertGroups(await deps.alerts(), parsed, asked), signal);
    return reply.type(JSON_TYPE).send(await runYielding(bytesOf(jsonList(groups)), signal));
  });

  const posting = { config: { scope: "alerts" }, bodyLimit: LARGEST_BODY } as const;
  app.post(`${base}alerts`, posting, async ({ body }, reply) => {
    if (!Array.isArray(body)) throw new HttpError("bad_body", "Expected a list of alerts.");
    if (body.length > MOST_AT_ONCE) {
      const found = `found ${body.length}`;
      throw new HttpError("too_large", `Expected at most ${MOST_AT_ONCE} alerts at once, ${found}.`);
    }
    const posted = await runYielding(readAlerts(body, deps.clock.now()));
    const accepted = await accept(posted, deps);
    deps.alertsReceived(countsOf(body.length, posted, deps.clock.now()));
    const problem = postProblem(posted, accepted);
    if (problem !== undefined) throw new HttpError("bad_body", problem);
    return reply.code(200).send();
  });
}

async function accept({ alerts }: PostedAlerts, deps: AlertRoutesDeps): Promise<Accepted> {
  const storing = withDeadline(deps.acceptAlerts(alerts), limitsOf(deps).acceptMs);
  const accepted = await storing.catch((thrown: unknown) => {
    throw new HttpError("unavailable", "The alerts could not be stored in time; send them again.", thrown);
  });
  if (accepted.outcome === "taken") return accepted;
  throw new HttpError("unavailable", "Too many clients send alerts at this moment; send them again.");
}

function countsOf(sent: number, { alerts }: PostedAlerts, now: Instant) {
  const firing = alerts.filter(([, { endsAt }]) => endsAt > now).length;
  return { firing, resolved: alerts.length - firing, invalid: sent - alerts.length };
}

function postProblem({ problem }: PostedAlerts, { refused, most }: Accepted): string | undefined {
  if (refused === 0) return problem && `${problem} All others were accepted.`;
  const full = `There is room for ${most} external alerts, of 4,000,000 characters together: ${refused} were refused.`;
  return problem === undefined ? full : `${problem} ${full}`;
}
