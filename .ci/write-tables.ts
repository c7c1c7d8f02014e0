/** Writes the table of metrics of docs/operations.md, after `metrics/table.ts` has changed. */
import { readFileSync, writeFileSync } from "node:fs";
import { fleetRows, processRows } from "../src/metrics/table.ts";

const file = new URL("../docs/operations.md", import.meta.url);
const code = (text: string) => `\`${text}\``;
const rows = [...Object.values(fleetRows), ...Object.values(processRows)].map(({ name, type, labels, help }) => [
  code(name),
  type,
  labels.map(code).join(", "),
  help,
]);

const TABLE = /(^## Metrics\n[^|]*)(?:^\|.*\n)+/m;
const text = readFileSync(file, "utf8");
if (!TABLE.test(text)) throw new Error("docs/operations.md has no table of metrics to write anew");
const table = markdown([["metric", "type", "labels", "what"], ...rows]);
writeFileSync(
  file,
  text.replace(TABLE, (_, before: string) => `${before}${table}`),
);

/** Columns of one width, the first row their heads. */
function markdown(cells: readonly (readonly string[])[]): string {
  const [heads = []] = cells;
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const lineOf = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |\n`;
  const [head = "", ...body] = cells.map(lineOf);
  return [head, lineOf(widths.map((width) => "-".repeat(width))), ...body].join("");
}
