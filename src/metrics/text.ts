/**
 * The two text formats Prometheus reads: its own 0.0.4 and OpenMetrics 1.0.
 * https://prometheus.io/docs/instrumenting/exposition_formats/ and
 * https://prometheus.io/docs/specs/om/open_metrics_spec/
 */
import { cut, stripControls } from "../lib/text.ts";

export const expositionFormats = ["prometheus", "openmetrics"] as const;
export type ExpositionFormat = (typeof expositionFormats)[number];

export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

export type MetricType = "counter" | "gauge" | "histogram" | "summary";

/** Label values are cut to this many characters: names come from elsewhere. */
const MAX_LABEL = 256;

/** `# HELP` and `# TYPE`. OpenMetrics names a counter's family without the `_total` its samples carry. */
export function renderHead(
  metric: { name: string; help: string; type: MetricType },
  format: ExpositionFormat,
): string {
  const open = format === "openmetrics";
  const family = open && metric.type === "counter" ? metric.name.replace(/_total$/, "") : metric.name;
  const help = metric.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  const escaped = open ? help.replaceAll('"', '\\"') : help;
  return `# HELP ${family} ${escaped}\n# TYPE ${family} ${metric.type}\n`;
}

/** One label as it stands between the braces; one line of visible text, at most 256 characters of it. */
export function renderLabel(name: string, value: string): string {
  const visible = cut(stripControls(value.slice(0, 8 * MAX_LABEL)), MAX_LABEL);
  return `${name}="${visible.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** One line; the empty string for NaN, which says nothing. `labels` is rendered text, without the braces. */
export function renderSample(name: string, labels: string, value: number): string {
  if (Number.isNaN(value)) return "";
  return labels === "" ? `${name} ${renderNumber(value)}\n` : `${name}{${labels}} ${renderNumber(value)}\n`;
}

function renderNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

/** A histogram's upper bound: OpenMetrics wants canonical floats (`1.0`), the older format takes `1`. */
export function renderBound(bound: string | number, format: ExpositionFormat): string {
  const text = String(bound);
  return format === "openmetrics" && /^\d+$/.test(text) ? `${text}.0` : text;
}

/** What ends a whole exposition. */
export const trailer: Readonly<Record<ExpositionFormat, string>> = {
  prometheus: "",
  openmetrics: "# EOF\n",
};
