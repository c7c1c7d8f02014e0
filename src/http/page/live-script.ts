/** The one script of the pages, at a path that changes with its content. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";

/** Serves the script to everybody, as the sign-in page needs it; gives its path from `/` on. */
export function liveScriptRoute(app: FastifyInstance): string {
  const text = readFileSync(new URL("./live.js", import.meta.url), "utf8");
  const path = `live-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.js`;
  app.get(`/${path}`, { config: { open: true } }, (_request, reply) =>
    reply
      .header("cache-control", "public, max-age=31536000, immutable")
      .type("text/javascript; charset=utf-8")
      .send(text),
  );
  return path;
}
