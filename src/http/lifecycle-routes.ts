/** Probes of orchestrators, of Prometheus' and of Alertmanager's clients, and the reload of the configuration. */
import type { FastifyInstance } from "fastify";
import type { Evidence } from "../health/evidence.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import type { Instant } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import { humanDuration } from "../lib/duration.ts";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { limitsOf } from "./limits.ts";
import { originOf } from "./principal.ts";

const READY_KEPT_MS = 250;

type Deps = Pick<HttpDeps, "ready" | "limits" | "reload">;

/** Probes need no token and name nothing of the fleet. GET answers HEAD too. */
export function probeRoutes(app: FastifyInstance, deps: Deps): void {
  const open = { config: { open: true } };
  const ready = sharedReadiness(deps);
  app.get("/healthz", open, (_request, reply) => reply.type("text/plain").send("ok\n"));
  app.get("/-/healthy", open, (_request, reply) => reply.type("text/plain").send("OK"));

  app.get("/readyz", open, async (_request, reply) => {
    const readiness = await ready();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });

  app.get("/-/ready", open, async (_request, reply) => {
    const { ready: isReady, reasons } = await ready();
    reply.code(isReady ? 200 : 503).type("text/plain");
    return reply.send(isReady ? "OK" : reasons.join("\n"));
  });
}

/** Probes and the reload. */
export function lifecycleRoutes(app: FastifyInstance, deps: Deps): void {
  probeRoutes(app, deps);
  app.post("/-/reload", { config: { scope: "admin" } }, async (request, reply) => {
    if (!deps.reload)
      throw new HttpError("bad_config", "This lenswatch was not started from a file that it could reload.");
    const result = await deps.reload(originOf(request));
    if (result.outcome === "refused") {
      const problems = result.problems.join("\n");
      throw new HttpError("bad_config", `The configuration was refused; the previous one stays active.\n${problems}`);
    }
    return reply.type("text/plain").send("OK");
  });
}

/** Readiness, asked for once for all probes of a moment. */
function sharedReadiness(deps: Deps): () => Promise<Readiness> {
  let asked: { readonly at: number; readonly readiness: Promise<Readiness> } | undefined;
  return () => {
    const at = performance.now();
    if (!asked || at - asked.at >= READY_KEPT_MS) asked = { at, readiness: readinessInTime(deps) };
    return asked.readiness;
  };
}

async function readinessInTime(deps: Deps): Promise<Readiness> {
  const late = "The readiness check did not finish in time; Redis may be slow or unreachable.";
  return withDeadline(deps.ready(), limitsOf(deps).readyMs).catch(() => ({ ready: false, reasons: [late], notes: [] }));
}

export type Readiness = ReturnType<typeof judgeReadiness>;

export interface ReadinessFacts {
  readonly configLoaded: boolean;
  readonly redisReachable: boolean;
  /** Undefined where this replica does not poll. */
  readonly sweeps: { readonly lastAttemptAt: Instant | undefined; readonly statusIntervalMs: number } | undefined;
  /** Endpoints of the service that do not answer. */
  readonly endpointsDown: readonly string[];
  /** How old what is known of recordings is; undefined where that cannot be read. */
  readonly evidence?: Pick<Evidence, "state"> | undefined;
  /** Roles this replica lost to a replica with a later configuration. */
  readonly standby?: readonly string[];
  /** Whether Slack's buttons do not reach this replica. */
  readonly isSlackDown?: boolean;
}

/**
 * Readiness of lenswatch itself, never of the service it watches, a sentence for each reason and for each note.
 * Ready: configuration loaded, Redis reachable and, where it polls, a sweep attempted within 3 intervals.
 */
export function judgeReadiness(facts: ReadinessFacts, now: Instant) {
  const reasons = [
    facts.configLoaded ? undefined : "The configuration is not loaded.",
    facts.redisReachable ? undefined : "Redis cannot be reached.",
    facts.sweeps && lateSweep(facts.sweeps, now),
  ].filter((reason) => reason !== undefined);
  const notes = [
    ...facts.endpointsDown.map((endpoint) => `The analytics service does not answer at ${endpoint}.`),
    ...(facts.evidence ? (EVIDENCE_NOTES[facts.evidence.state] ?? []) : []),
    ...(facts.standby ?? []).map(
      (role) => `Another replica has a later configuration: this one takes no new work (${role}).`,
    ),
    ...(facts.isSlackDown ? ["Slack's buttons do not reach this replica, it is reconnecting."] : []),
  ];
  return { ready: reasons.length === 0, reasons, notes };
}

/** Sentences that name nothing of the fleet. */
const EVIDENCE_NOTES: Readonly<Partial<Record<Evidence["state"], readonly string[]>>> = {
  unreachable: ["Hardly any recording was read lately."],
  partly: ["Not everything that is watched was read in time."],
};

function lateSweep(sweeps: NonNullable<ReadinessFacts["sweeps"]>, now: Instant): string | undefined {
  const { lastAttemptAt, statusIntervalMs } = sweeps;
  if (lastAttemptAt === undefined) return "No sweep was attempted yet.";
  const ago = now - lastAttemptAt;
  if (ago <= GAP_INTERVALS * statusIntervalMs) return undefined;
  const interval = humanDuration(statusIntervalMs);
  return `The last sweep was attempted ${humanDuration(ago)} ago, with an interval of ${interval}.`;
}
