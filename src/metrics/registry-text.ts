/**
 * The registry's metrics as text. prom-client's own writer is not used: asked for OpenMetrics it renames the
 * counters for good, its format is a property of the registry rather than of the request, and it writes `Nan`.
 */
import type { Registry } from "prom-client";
import {
  type ExpositionFormat,
  type MetricType,
  renderBound,
  renderHead,
  renderLabel,
  renderSample,
} from "./text.ts";

/** What `getMetricsAsJSON` really gives: its declared types know neither the type's name nor bucket names. */
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

/** All families of the registry in one text, without the trailer. */
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
