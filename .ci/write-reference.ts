/** Writes docs/reference/ and docs/threat-model.md, after metrics, error codes, rules or promises have changed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { generatedPages } from "./reference/pages.ts";

const root = new URL("../", import.meta.url);
mkdirSync(new URL("docs/reference/", root), { recursive: true });
for (const [path, text] of Object.entries(generatedPages())) writeFileSync(new URL(path, root), text);
