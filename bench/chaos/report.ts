/** Renders the result of an audit as tables. */
import { renderTable } from "../../src/commands/cli/table.ts";
import type { Audit, Delay, Verdict } from "./audit.ts";

const COUNTED = ["lost", "false", "unresolved", "late", "unreadable", "repeated", "stale", "doubled"] as const;

/** One row per kind of receiver, the delays, then every verdict. */
export function auditText(audit: Audit): string {
  const kinds = ["webhook", "app", "pagerduty", "phone"];
  const of = (kind: string, verdict: Verdict["kind"]) =>
    audit.verdicts.filter((one) => one.integration.startsWith(kind) && one.kind === verdict).length;
  const rows = kinds.map((kind) => [kind, ...COUNTED.map((verdict) => String(of(kind, verdict)))]);
  const { messages, excused } = audit.doubled;
  const { sure, judged } = audit.answers;
  return [
    plainTable(["", ...COUNTED], rows),
    `${audit.outages} outages; each integration's counted, ${audit.mustBeNotified} to be notified, ` +
      `${audit.excused} rightly not: silenced or acknowledged\n` +
      `${sure} answers about a location without a failure, ${((100 * judged) / Math.max(1, sure)).toFixed(1)} % of them evaluated\n` +
      `${audit.notices} alerts notified; ${messages} messages repeated, ${excused} of them in flight at a kill\n`,
    ...(audit.mustBeNotified === 0 ? ["Nothing had to be notified for certain: this run proves little.\n"] : []),
    plainTable(["from flip to acceptance", "n", "p50 s", "p99 s", "max s"], delayRows(audit.delays)),
    ...audit.verdicts.map(
      ({ kind, integration, subject, at, why }) =>
        `${kind}: ${integration} ${subject} ${new Date(at).toISOString()} ${why}\n`,
    ),
  ].join("\n");
}

function plainTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = heads.map((head, i) => ({ head, cell: (row: readonly string[]) => row[i] ?? "" }));
  return renderTable(columns, rows);
}

function delayRows(delays: readonly Delay[]): string[][] {
  const kinds: [string, (delay: Delay) => boolean][] = [
    ["offline, without a failure", ({ kind, undisturbed }) => kind === "firing" && undisturbed],
    ["recovered, without a failure", ({ kind, undisturbed }) => kind === "recovered" && undisturbed],
    ["offline, all", ({ kind }) => kind === "firing"],
    ["recovered, all", ({ kind }) => kind === "recovered"],
  ];
  return kinds.map(([name, is]) => {
    const sorted = delays
      .filter(is)
      .map(({ ms }) => ms)
      .sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return [name, String(sorted.length), ...[at(0.5), at(0.99), sorted.at(-1)].map(seconds)];
  });
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? "–" : (ms / 1_000).toFixed(1);
}
