/** Renders the result of an audit as tables. */
import { renderTable } from "../../src/commands/cli/table.ts";
import type { Audit, Delay, Verdict } from "./audit.ts";

const COUNTED = ["lost", "false", "unresolved", "late", "unreadable", "repeated", "stale"] as const;

/** Whether all guarantees held: nothing lost, false or unresolved, and no repetition without a kill. */
export function isClean({ verdicts }: Audit): boolean {
  return verdicts.length === 0;
}

/** One row per kind of receiver, the delays, then every verdict. */
export function auditText(audit: Audit): string {
  const kinds = ["slack", "app", "email", "pagerduty", "phone", "groups"];
  const of = (kind: string, verdict: Verdict["kind"]) =>
    audit.verdicts.filter((one) => one.integration.startsWith(kind) && one.kind === verdict).length;
  const rows = kinds.map((kind) => [
    kind,
    ...COUNTED.map((verdict) => String(of(kind, verdict))),
    String(of(kind, "doubled")),
  ]);
  const { messages, excused } = audit.doubled;
  return [
    plainTable(["", ...COUNTED, "doubled without a kill"], rows),
    `${audit.outages} outages (each integration's counted), ${audit.mustBeNotified} of them to be notified, and ${audit.groupsToNotify} of camera servers; ` +
      `rightly not notified: ${excusesOf(audit)}; flapping: ${audit.flaps}\n` +
      `${audit.answers.sure} answers about a location without a failure, ${percent(audit.answers)} of them evaluated\n` +
      `${audit.notices} lines notified; ${messages} messages repeated, ${excused} of them in flight at a kill\n`,
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

const EXCUSES = {
  suppressed: "silenced or acknowledged",
  outside_schedule: "outside the schedule",
  flapping: "flapping",
};

function excusesOf({ excused }: Audit): string {
  return Object.entries(EXCUSES)
    .map(([excuse, words]) => `${excused[excuse as keyof typeof EXCUSES] ?? 0} ${words}`)
    .join(", ");
}

function percent({ sure, judged }: Audit["answers"]): string {
  return `${((100 * judged) / Math.max(1, sure)).toFixed(1)} %`;
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
