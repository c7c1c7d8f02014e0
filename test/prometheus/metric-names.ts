/** Metric names in PromQL expressions, compared with those lenswatch exposes. */
import { fleetRows, type MetricRow, processRows } from "../../src/metrics/table.ts";

const rows: readonly MetricRow[] = [...Object.values(fleetRows), ...Object.values(processRows)];

/** Every series name that can be scraped, histograms by their parts. */
export const scraped: ReadonlySet<string> = new Set(
  rows.flatMap(({ name, type }) =>
    type === "histogram" ? ["bucket", "sum", "count"].map((part) => `${name}_${part}`) : [name],
  ),
);

/** Names of lenswatch's own metrics in the text, recorded ones (with colons) left out. */
export function metricsIn(expression: string): string[] {
  return namesIn(expression).filter((name) => !name.includes(":") && /^(?:lenswatch|alertmanager)_/.test(name));
}

/** Names of recorded series in the text. */
export function recordedIn(expression: string): string[] {
  return namesIn(expression).filter((name) => name.includes(":"));
}

function namesIn(expression: string): string[] {
  const outsideOfStrings = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  return outsideOfStrings.match(/(?<![\w:])[a-zA-Z_:][\w:]*/g) ?? [];
}
