/**
 * One scrape: the process's own metrics, then the fleet's, in chunks. However large the fleet, the event loop
 * is let through every few milliseconds, also where the reader never makes us wait.
 */
import type { Registry } from "prom-client";
import { createBreather } from "../lib/breathe.ts";
import { type FleetView, fleetText } from "./fleet.ts";
import { createLabelCache } from "./label-cache.ts";
import { negotiateFormat } from "./negotiate.ts";
import { renderRegistry } from "./own.ts";
import { contentTypes, type ExpositionFormat, trailer } from "./text.ts";

/** Characters gathered before they are handed on. */
const CHUNK = 64 * 1024;

export interface ExpositionDeps {
  readonly registry: Registry;
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
    const view = await deps.fleet();
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

/** Joins pieces to chunks of about 64 KiB and breathes between pieces. */
export async function* inChunks(
  pieces: Iterable<string>,
  breather = createBreather(),
): AsyncGenerator<string, void> {
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length >= CHUNK) {
      yield chunk;
      chunk = "";
    }
    await breather.breathe();
  }
  if (chunk !== "") yield chunk;
}
