/** Answers a scrape: the metrics of the process, then those of the fleet, yielding to the event loop between chunks. */
import type { Registry } from "prom-client";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { createYielder } from "../lib/yield.ts";
import { createLabels, type Exposed, type FleetView, fleetText, MOST_BY_DEFAULT } from "./fleet.ts";
import { contentTypes, type ExpositionFormat, negotiateFormat, renderRegistry, trailer } from "./text.ts";

/** Deadline for reading the fleet; the scrape goes on without it, since Prometheus waits 10 s in all. */
const FLEET_DEADLINE_MS = 5_000;

export interface ExpositionDeps {
  readonly registry: Registry;
  readonly log: Logger;
  /** The current fleet; undefined where another replica exposes it. */
  fleet(): Promise<FleetView | undefined>;
}

/** An exposition of one registry. */
export function createExposition(deps: ExpositionDeps) {
  const notice = createNotices(deps.log);
  const labelsOf = createLabels();

  async function* write(format: ExpositionFormat): AsyncGenerator<string, void> {
    yield await renderRegistry(deps.registry, format);
    const view = await readFleet(deps);
    const maybeYield = createYielder();
    for (const piece of view ? noticed(view, fleetText(view, format, labelsOf)) : []) {
      if (piece.length > 0) yield piece;
      await maybeYield();
    }
    if (trailer[format]) yield trailer[format];
  }

  function* noticed({ perRecording }: FleetView, pieces: ReturnType<typeof fleetText>) {
    notice(yield* pieces, perRecording === undefined);
  }

  return {
    /** Chooses the format by the Accept header; `body` is rendered while it is read. */
    expose(accept: string | undefined) {
      const format = negotiateFormat(accept);
      return { contentType: contentTypes[format], body: write(format) };
    },
  };
}

/** Leaves out the fleet's series where Redis fails: the metrics of the process show the failure. */
async function readFleet({ fleet, log }: ExpositionDeps): Promise<FleetView | undefined> {
  try {
    return await withDeadline(fleet(), FLEET_DEADLINE_MS);
  } catch (thrown) {
    log.warn({ err: toError(thrown) }, "fleet not readable, scraped without its series");
    return undefined;
  }
}

/** Logs when the default has no series of some recordings, once, and when something begins to be left out. */
function createNotices(log: Logger) {
  let isLimited = false;
  let isCut = false;
  return ({ perRecording, recordings, omitted }: Exposed, isDefault: boolean): void => {
    if (isDefault && perRecording === "off" && !isLimited) {
      const message = "recordings have no series of their own: set metrics.per_recording to all to have them";
      log.warn({ recordings, limit: MOST_BY_DEFAULT }, message);
      isLimited = true;
    }
    const cut = omitted.filter(([, count]) => count > 0);
    if (cut.length > 0 && !isCut) log.warn({ omitted: Object.fromEntries(cut) }, "there is too much for the metrics");
    isCut = cut.length > 0;
  };
}
