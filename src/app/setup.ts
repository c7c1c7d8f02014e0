/** The parts that one configuration builds: the service's client, the integrations and the engine. */
import type { Config } from "../config/config.ts";
import { createHeartbeatCall } from "../notify/heartbeat.ts";
import { createService, type Service } from "../service/service.ts";
import { Engine } from "./engine.ts";
import { createSenders } from "./integrations.ts";
import type { Configured } from "./job-context.ts";
import type { Runtime } from "./runtime.ts";

export type Setup = Configured & { readonly engine: Engine };

/** Nothing runs before the engine is started. The service's client is reused where its section did not change. */
export function buildSetup(runtime: Runtime, config: Config, before?: Setup): Setup {
  const isSameService = before && isSame(before.config.service, config.service);
  return withEngine(runtime, {
    config,
    senders: createSenders(config, runtime.log.child({ component: "notify" }), runtime.directory.recipients()),
    heartbeat: config.heartbeat && createHeartbeatCall(config.heartbeat),
    service: isSameService ? before.service : openService(runtime, config),
  });
}

/** The same parts with a new engine. */
export function withEngine(runtime: Runtime, { config, senders, service, heartbeat }: Configured): Setup {
  const configured = { config, senders, service, heartbeat };
  return { ...configured, engine: new Engine({ ...runtime, ...configured }) };
}

/** Closes what `setup` opened, but for a service that `after` goes on with. */
export async function closeSetup(setup: Setup, after?: Setup): Promise<void> {
  await setup.senders.close();
  await setup.heartbeat?.close();
  if (setup.service !== after?.service) await setup.service.close();
}

function openService({ clock, log, metrics, serviceUp }: Runtime, { service }: Config): Service {
  const observer = {
    ...metrics,
    request(endpoint: string, outcome: string, seconds: number) {
      metrics.request(endpoint, outcome, seconds);
      const answers = outcome === "ok" || (outcome === "bad_request" && endpoint !== "status");
      if (outcome === "closed") return;
      serviceUp.set(endpoint, answers);
      metrics.serviceUp(endpoint, answers);
    },
  };
  return createService({ config: service, clock, log, observer });
}

/** Compares the content of two parts of configurations. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
