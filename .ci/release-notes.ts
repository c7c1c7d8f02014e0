/**
 * Prints the section of CHANGELOG.md for a tag such as v1.2.3: `node .ci/release-notes.ts TAG`. Fails unless package.json,
 * package-lock.json, the chart's appVersion and the Dockerfile have the version of the tag. Needs no package.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const root = process.env.ROOT ?? resolve(import.meta.dirname, "..");
const read = (file: string) => readFileSync(resolve(root, file), "utf8");
const version = process.argv[2]?.replace(/^v/, "") ?? "";

const versions = {
  "package.json": JSON.parse(read("package.json")).version,
  "package-lock.json": JSON.parse(read("package-lock.json")).version,
  "helm/lenswatch/Chart.yaml (appVersion)": /^appVersion: "?([^"\n]*)/m.exec(read("helm/lenswatch/Chart.yaml"))?.[1],
  Dockerfile: /^ARG VERSION=(.*)$/m.exec(read("Dockerfile"))?.[1],
};
const [, section] = read("CHANGELOG.md").split(`\n## [${version}] - `);
const problems = [
  ...Object.entries(versions).flatMap(([file, has]) => (has === version ? [] : [`${file} has version ${has}`])),
  ...(section ? [] : [`CHANGELOG.md has no section "## [${version}] - DATE"`]),
];
if (problems.length > 0) {
  process.stderr.write(`The tag is for version "${version}", but ${problems.join("; ")}.\n`);
  process.exitCode = 1;
} else {
  const notes = section?.split(/\n## |\n\[[^\]]+\]: /)[0] ?? "";
  process.stdout.write(`${notes.slice(notes.indexOf("\n")).trim()}\n`);
}
