/** The documents that are made from code, configuration and the texts in this folder: path → text. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { defaultRules } from "../../src/config/rule-schema.ts";
import { fleetRows, processRows } from "../../src/metrics/table.ts";
import { builtIn, prometheusNotes } from "./alerts.ts";
import { errors } from "./errors.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const code = (text: string) => `\`${text}\``;
const GENERATED = "<!-- Generated: node .ci/write-reference.ts -->\n";

export function generatedPages(): Record<string, string> {
  return {
    "docs/reference/metrics.md": metricsPage(),
    "docs/reference/errors.md": errorsPage(),
    "docs/reference/alerts.md": alertsPage(),
    "docs/threat-model.md": threatModelPage(),
  };
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |\n`).join("");
}

function metricsPage(): string {
  const rows = [...Object.values(fleetRows), ...Object.values(processRows)].map(({ name, type, labels, help }) => [
    code(name),
    type,
    labels.map(code).join(", "),
    help,
  ]);
  return `${GENERATED}${read(".ci/reference/metrics.md")}\n${tableOf(["metric", "type", "labels", "what"], rows)}`;
}

function errorsPage(): string {
  const sections = Object.entries(errors).map(([name, { about, codes }]) => {
    const rows = Object.entries(codes).map(([error, [meaning, action]]) => [code(error), meaning, action]);
    return `\n## ${name}\n\n${about}\n\n${tableOf(["code", "meaning", "what to do"], rows)}`;
  });
  return `${GENERATED}${read(".ci/reference/errors.md")}${sections.join("")}`;
}

interface ShippedRule {
  readonly alert?: string;
  readonly for?: string;
  readonly labels?: { readonly severity: string };
  readonly annotations?: { readonly description: string; readonly runbook: string };
}

export function shippedAlerts(): ShippedRule[] {
  const { groups } = parse(read("config/prometheus/lenswatch.rules.yml")) as { groups: { rules: ShippedRule[] }[] };
  return groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
}

function alertsPage(): string {
  const [head = "", prometheus = ""] = read(".ci/reference/alerts.md").split("<!-- Prometheus -->\n");
  const text = (value: unknown) => (value === undefined ? "" : String(value));
  const rules = defaultRules.map((rule) => {
    const name = String(rule.alert);
    const own = builtIn[name];
    if (!own) throw new Error(`.ci/reference/alerts.ts explains no ${name}`);
    return { ...own, name, rule, severity: text((rule.labels as { severity?: string }).severity) };
  });
  const rows = rules.map(({ name, when, rule, severity }) => [
    `[${name}](#${name.toLowerCase()})`,
    when,
    text(rule.for),
    text(rule.keep_firing_for),
    severity,
  ]);
  const explained = rules.map(({ name, means, action }) => sectionOf(name, means, action));
  const shipped = shippedAlerts().map(({ alert = "", labels, annotations, ...rule }) => {
    const { description = "", runbook = "" } = annotations ?? {};
    const means = `${labels?.severity}, after ${rule.for}. ${plain(description)}`;
    return sectionOf(alert, means, [plain(runbook), prometheusNotes[alert]].filter(Boolean).join(" "));
  });
  const table = tableOf(["alert", "fires when", "`for`", "`keep_firing_for`", "severity"], rows);
  return `${GENERATED}${head}\n${table}${explained.join("")}\n${prometheus}${shipped.join("")}`;
}

function sectionOf(name: string, means: string, action: string): string {
  return `\n### ${name}\n\n**Means:** ${means}\n\n**Do:** ${action}\n`;
}

/** The text of an annotation without Prometheus' template language. */
function plain(annotation: string): string {
  return annotation
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => label.toUpperCase())
    .replaceAll(/\{\{ \$value.*?\}\}/g, "N");
}

export interface Attacker {
  readonly attacker: string;
  readonly about: string;
  /** What is possible or not → the test that fails when that is no longer so, as `file: title`. */
  readonly can: Readonly<Record<string, string>>;
  readonly cannot: Readonly<Record<string, string>>;
}

export const attackers = () => parse(read(".ci/reference/promises.yaml")) as Attacker[];

function threatModelPage(): string {
  const sections = attackers().map(({ attacker, about, can, cannot }) => {
    const rowsOf = (word: string, promises: Attacker["can"]) =>
      Object.entries(promises).map(([what, test]) => [word, what, code(test.split(":")[0] ?? "")]);
    const rows = [...rowsOf("can", can), ...rowsOf("cannot", cannot)];
    return `\n## ${attacker}\n\n${about}\n\n${tableOf(["", "what", "test"], rows)}`;
  });
  return `${GENERATED}${read(".ci/reference/threat-model.md")}${sections.join("")}`;
}
