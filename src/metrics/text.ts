/**
 * The two text formats Prometheus reads: its own 0.0.4 and OpenMetrics 1.0.
 * https://prometheus.io/docs/instrumenting/exposition_formats/ and
 * https://prometheus.io/docs/specs/om/open_metrics_spec/
 */
import { createHash } from "node:crypto";
import Negotiator from "negotiator";
import type { Registry } from "prom-client";
import { cut, stripControls } from "../lib/text.ts";

export type ExpositionFormat = "prometheus" | "openmetrics";

export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/**
 * The format an Accept header prefers (RFC 9110, 12.5.1); Prometheus text where both or neither are acceptable.
 * `escaping` is ignored: every metric and label name here is valid without it.
 */
export function negotiateFormat(accept?: string): ExpositionFormat {
  const headers = { accept: accept?.replace(/;\s*escaping=[\w-]+/gi, "") };
  const type = new Negotiator({ headers }).mediaType(Object.values(contentTypes));
  return type === contentTypes.openmetrics ? "openmetrics" : "prometheus";
}

export type MetricType = "counter" | "gauge" | "histogram" | "summary";

const MAX_LABEL = 256;

/** `# HELP` and `# TYPE`. OpenMetrics names a counter's family without the `_total` its samples carry. */
export function renderHead(metric: { name: string; help: string; type: MetricType }, format: ExpositionFormat): string {
  const open = format === "openmetrics";
  const family = open && metric.type === "counter" ? metric.name.replace(/_total$/, "") : metric.name;
  const help = metric.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  const escaped = open ? help.replaceAll('"', '\\"') : help;
  return `# HELP ${family} ${escaped}\n# TYPE ${family} ${metric.type}\n`;
}

/** Text that is rendered as it is: most of it. */
const PLAIN = /^[ !#-[\]-~]{0,256}$/;

/** One label as it stands between the braces: visible text in one line, at most 256 characters. */
export function renderLabel(name: string, value: string): string {
  if (PLAIN.test(value)) return `${name}="${value}"`;
  const visible = cut(stripControls(value.slice(0, 8 * MAX_LABEL)), MAX_LABEL);
  return `${name}="${visible.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** `a="…",b="…"`. */
export function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, i) => renderLabel(name, values[i] ?? "")).join(",");
}

/** Adds a digest to an id that rendering may alter, so that no two recordings or groups share a series. */
export function distinct(id: string): string {
  if (/^[ -~]{1,128}$/.test(id)) return id;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 12);
  return `${id.slice(0, 100)}~${digest}`;
}

/** One sample line; the empty string for NaN. `labels` is rendered text, without the braces. */
export function renderSample(name: string, labels: string, value: number, textOf = renderNumber): string {
  if (Number.isNaN(value)) return "";
  return labels === "" ? `${name} ${textOf(value)}\n` : `${name}{${labels}} ${textOf(value)}\n`;
}

/** A value as both formats have it. */
export function renderNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

/** A histogram's upper bound: OpenMetrics wants canonical floats (`1.0`), the older format takes `1`. */
export function renderBound(bound: string | number, format: ExpositionFormat): string {
  const text = String(bound);
  return format === "openmetrics" && /^\d+$/.test(text) ? `${text}.0` : text;
}

/** Ends a whole exposition. */
export const trailer: Readonly<Record<ExpositionFormat, string>> = { prometheus: "", openmetrics: "# EOF\n" };

/** The actual result of `getMetricsAsJSON`; prom-client's types lack the type's name and the bucket names. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly values: readonly {
    readonly metricName?: string;
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number>>;
  }[];
}

/**
 * All families of the registry, without the trailer. prom-client's own writer is not used: for OpenMetrics it renames
 * the counters for good, its format is a property of the registry rather than of the request, and it writes `Nan`.
 */
export async function renderRegistry(registry: Registry, format: ExpositionFormat): Promise<string> {
  const families = (await registry.getMetricsAsJSON()) as unknown as Family[];
  return families.map((family) => renderFamily(family, format)).join("");
}

function renderFamily(family: Family, format: ExpositionFormat): string {
  const samples = family.values.map((sample) =>
    renderSample(sample.metricName ?? family.name, renderLabels(sample.labels, format), sample.value),
  );
  return renderHead(family, format) + samples.join("");
}

function renderLabels(labels: Readonly<Record<string, string | number>>, format: ExpositionFormat): string {
  return Object.entries(labels)
    .map(([name, value]) => renderLabel(name, name === "le" ? renderBound(value, format) : String(value)))
    .join(",");
}
