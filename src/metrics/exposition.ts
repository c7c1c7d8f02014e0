/**
 * One scrape: the process's own metrics, then the fleet's, in chunks. However large the fleet, the event loop
 * is let through every few milliseconds, also where the reader never makes us wait.
 */
import type { Registry } from "prom-client";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { inChunks } from "../lib/yield.ts";
import { type FleetView, fleetText } from "./fleet.ts";
import { createLabelCache } from "./label-cache.ts";
import { negotiateFormat } from "./negotiate.ts";
import { renderRegistry } from "./registry-text.ts";
import { contentTypes, type ExpositionFormat, trailer } from "./text.ts";

/** How long reading the fleet may take before the scrape goes on without it: Prometheus waits 10 s in all. */
const FLEET_DEADLINE_MS = 5_000;

export interface ExpositionDeps {
  readonly registry: Registry;
  readonly log: Logger;
  /** The fleet as it is now; undefined where another replica exposes it. */
  fleet(): Promise<FleetView | undefined>;
}

export interface Exposition {
  /** Chooses a format by the Accept header; `body` does its work while it is read, and none when it is not. */
  expose(accept: string | undefined): { readonly contentType: string; readonly body: AsyncIterable<string> };
}

/** An exposition over one registry; it keeps the fleet's label texts from scrape to scrape. */
export function createExposition(deps: ExpositionDeps): Exposition {
  const cache = createLabelCache();

  async function* write(format: ExpositionFormat): AsyncGenerator<string, void> {
    yield await renderRegistry(deps.registry, format);
    const view = await readFleet(deps);
    if (view) yield* inChunks(fleetText(view, format, cache));
    if (trailer[format]) yield trailer[format];
  }

  return {
    expose(accept) {
      const format = negotiateFormat(accept);
      return { contentType: contentTypes[format], body: write(format) };
    },
  };
}

/** Without Redis the process's own metrics still say that something is wrong: the fleet's are left out. */
async function readFleet({ fleet, log }: ExpositionDeps): Promise<FleetView | undefined> {
  try {
    return await withDeadline(fleet(), FLEET_DEADLINE_MS);
  } catch (thrown) {
    log.warn({ err: toError(thrown) }, "the fleet could not be read for a scrape: its series are left out");
    return undefined;
  }
}
