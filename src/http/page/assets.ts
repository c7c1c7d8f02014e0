/** The style sheet, the script and the icons of the pages. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import type { Mood } from "./layout.ts";

/** Inlined in every page. */
export const STYLE_SHEET = textOf("style.css");

function textOf(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8");
}

/** Serves the script to everybody, as the sign-in page needs it; gives its path from `/` on, which names its content. */
export function liveScriptRoute(app: FastifyInstance): string {
  const text = textOf("live.js");
  const path = `live-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.js`;
  app.get(`/${path}`, { config: { open: true } }, (_request, reply) =>
    reply
      .header("cache-control", "public, max-age=31536000, immutable")
      .type("text/javascript; charset=utf-8")
      .send(text),
  );
  return path;
}

/** A shape for each mood, so that the icon does not depend on colour alone. */
const SHAPES: Readonly<Record<Mood, string>> = {
  bad: `<path d="M2 2h12v12H2z" fill="#d13b2e"/><path d="M5 5l6 6M11 5l-6 6" stroke="#fff" stroke-width="2"/>`,
  unknown: `<circle cx="8" cy="8" r="7" fill="#6b7684"/>
<text x="8" y="12" font-size="11" font-family="sans-serif" font-weight="700" text-anchor="middle" fill="#fff">?</text>`,
  warn: `<path d="M8 1l7 13H1z" fill="#d98a00"/>`,
  good: `<circle cx="8" cy="8" r="7" fill="#2c9a55"/>
<path d="M4.500 8l2.500 2.500 4.500-5" stroke="#fff" stroke-width="2" fill="none"/>`,
};

/** The icon of the browser's tab, a data URL. */
export function iconOf(mood: Mood): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${SHAPES[mood]}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
