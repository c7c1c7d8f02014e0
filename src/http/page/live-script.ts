/** The page's one script, served from a path of its own that changes with it. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";

export interface LiveScript {
  /** From `/` on. */
  readonly path: string;
  readonly text: string;
}

export function readLiveScript(): LiveScript {
  const text = readFileSync(new URL("./live.js", import.meta.url), "utf8");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { path: `live-${hash}.js`, text };
}

/** Open to everybody: it tells nothing, and the sign-in page is as public. */
export function liveScriptRoute(app: FastifyInstance, { path, text }: LiveScript): void {
  app.get(`/${path}`, { config: { open: true } }, (_request, reply) =>
    reply
      .header("cache-control", "public, max-age=31536000, immutable")
      .type("text/javascript; charset=utf-8")
      .send(text),
  );
}
