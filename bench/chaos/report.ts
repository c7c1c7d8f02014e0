/** What an audit found, as a table for people. */
import { renderTable } from "../../src/commands/cli/table.ts";
import type { Audit, Delay, Verdict } from "./audit.ts";

const COUNTED = ["lost", "false", "unresolved", "late", "unreadable"] as const;

/** Whether the promises held: nothing lost, false or left without its end, and no repetition without a kill. */
export function isClean({ verdicts }: Audit): boolean {
  return verdicts.length === 0;
}

/** One row per kind of receiver, the delays, then every verdict. */
export function auditText(audit: Audit): string {
  const kinds = ["slack", "email"];
  const of = (kind: string, verdict: Verdict["kind"]) =>
    audit.verdicts.filter((one) => one.integration.startsWith(kind) && one.kind === verdict).length;
  const rows = kinds.map((kind) => [
    kind,
    ...COUNTED.map((verdict) => String(of(kind, verdict))),
    String(of(kind, "doubled")),
  ]);
  const { messages, excused } = audit.doubled;
  return [
    renderTable(["", ...COUNTED, "doubled without a kill"], rows),
    `${audit.outages} outages (each integration's counted), ${audit.mustBeTold} of them to be told; ` +
      `rightly not told: ${excusesOf(audit)}; told to flap: ${audit.flaps}\n` +
      `${audit.answers.sure} answers about a location with nothing failing, ${percent(audit.answers)} of them judged\n` +
      `${audit.tellings} lines told; ${messages} messages repeated, ${excused} of them in flight at a kill\n`,
    renderTable(["from flip to acceptance", "n", "p50 s", "p99 s", "max s"], delayRows(audit.delays)),
    ...audit.verdicts.map(
      ({ kind, integration, subject, at, why }) =>
        `${kind}: ${integration} ${subject} ${new Date(at).toISOString()} ${why}\n`,
    ),
  ].join("\n");
}

const EXCUSES = {
  held: "silenced or acknowledged",
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
    ["offline, nothing failing", ({ says, undisturbed }) => says === "firing" && undisturbed],
    ["recovered, nothing failing", ({ says, undisturbed }) => says === "recovered" && undisturbed],
    ["offline, all", ({ says }) => says === "firing"],
    ["recovered, all", ({ says }) => says === "recovered"],
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
