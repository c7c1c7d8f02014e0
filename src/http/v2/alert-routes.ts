/** Alerts as Alertmanager's clients ask for them, and as Prometheus sends them. */
import type { FastifyInstance } from "fastify";
import type { Instant } from "../../lib/clock.ts";
import { withDeadline } from "../../lib/closer.ts";
import { inChunks, runYielding } from "../../lib/yield.ts";
import type { AcceptedAlerts, HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { parseQuery } from "../query.ts";
import { bodyOf } from "../stream.ts";
import { AlertsQuery, GroupsQuery } from "./alert-query.ts";
import { gettableAlerts, jsonList } from "./alerts.ts";
import { alertGroups } from "./groups.ts";
import { MOST_AT_ONCE, type PostedAlerts, readAlerts } from "./postable-alerts.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const LARGEST_BODY = 4 * 1024 * 1024;
const TAKE_DEADLINE_MS = 5_000;

type Deps = Pick<
  HttpDeps,
  "alerts" | "acceptAlerts" | "alertsReceived" | "config" | "clock" | "externalUrl" | "takeDeadlineMs"
>;

/** `base` is the path of the API, with a slash at its end. */
export function alertRoutes(app: FastifyInstance, base: string, deps: Deps): void {
  const context = () => ({ now: deps.clock.now(), externalUrl: deps.externalUrl });

  app.get(`${base}alerts`, { exposeHeadRoute: false }, async ({ query }, reply) => {
    const parsed = parseQuery(AlertsQuery, query);
    const rows = await runYielding(gettableAlerts(await deps.alerts(), parsed, context()));
    return reply.type(JSON_TYPE).send(bodyOf(inChunks(jsonList(rows))));
  });

  app.get(`${base}alerts/groups`, { exposeHeadRoute: false }, async ({ query }, reply) => {
    const parsed = parseQuery(GroupsQuery, query);
    const { route } = deps.config();
    const rows = await runYielding(alertGroups(await deps.alerts(), parsed, { ...context(), route }));
    return reply.type(JSON_TYPE).send(bodyOf(inChunks(jsonList(rows))));
  });

  const sending = { config: { admin: true }, bodyLimit: LARGEST_BODY };
  app.post(`${base}alerts`, sending, async ({ body }, reply) => {
    if (!Array.isArray(body)) throw new HttpError("bad_body", "Expected a list of alerts.");
    if (body.length > MOST_AT_ONCE)
      throw new HttpError(
        "too_large",
        `Expected at most ${MOST_AT_ONCE} alerts at once, found ${body.length}.`,
      );
    const posted = await runYielding(readAlerts(body, deps.clock.now()));
    const taken = await take(posted, deps);
    deps.alertsReceived(countsOf(body.length, posted, deps.clock.now()));
    const problem = problemOf(posted, taken);
    if (problem !== undefined) throw new HttpError("bad_body", problem);
    return reply.code(200).send();
  });
}

async function take(
  { alerts }: PostedAlerts,
  deps: Deps,
): Promise<Extract<AcceptedAlerts, { outcome: "taken" }>> {
  const asked = deps.acceptAlerts(alerts);
  const taken = await withDeadline(asked, deps.takeDeadlineMs ?? TAKE_DEADLINE_MS).catch(
    (thrown: unknown) => {
      throw new HttpError("unavailable", "The alerts could not be taken in time; send them again.", thrown);
    },
  );
  if (taken.outcome === "busy")
    throw new HttpError("unavailable", "Too many send alerts at this moment; send them again.");
  return taken;
}

function countsOf(sent: number, { alerts }: PostedAlerts, now: Instant) {
  const firing = alerts.filter(([, { endsAt }]) => endsAt > now).length;
  return { firing, resolved: alerts.length - firing, invalid: sent - alerts.length };
}

function problemOf(
  { problem }: PostedAlerts,
  { refused, most }: Extract<AcceptedAlerts, { outcome: "taken" }>,
): string | undefined {
  if (refused === 0) return problem && `${problem} All others were taken.`;
  const full = `There are ${most} alerts from outside already, and room for no more: ${refused} were not taken.`;
  return problem === undefined ? full : `${problem} ${full}`;
}
