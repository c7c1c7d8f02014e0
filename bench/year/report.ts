/** The year as tables: one of receivers, one of kinds of incidents, and what was wrong. */
import { renderTable } from "../../src/commands/cli/table.ts";
import { excuses } from "./expect.ts";
import type { Account } from "./match.ts";
import type { SentMessage } from "./notify-side.ts";

const SHOWN = 5;

export function reportOf(accounts: readonly Account[]): string {
  return [receivers(accounts), ...accounts.map(details)].join("\n");
}

/** A message in a line; what is new in it has a plus, what is resolved a minus. */
export function lineOf({ at, integration, reason, groups, firing, resolved }: SentMessage): string {
  const alerts = [
    ...firing.map(({ isNew, alertname, subject }) => `${isNew ? "+" : ""}${alertname}/${subject.id}`),
    ...resolved.map(({ alertname, subject }) => `-${alertname}/${subject.id}`),
  ];
  return [new Date(at).toISOString(), integration, reason, groups, ...alerts].join(" ");
}

function receivers(accounts: readonly Account[]): string {
  const head = [
    "INTEGRATION",
    "REAL",
    "MISSED",
    "NOTIFIED",
    "FIRSTS",
    "EACH",
    "MESSAGES",
    "EACH",
    "FALSE",
    "OFF HOURS",
    "WORST DAY",
  ];
  const rows = accounts.map((one) => [
    one.integration,
    one.real,
    one.missed.length,
    one.notified,
    one.firsts,
    ratio(one.firsts, one.notified),
    one.messages,
    ratio(one.messages, one.notified),
    new Set(one.unfounded.map(({ message }) => message)).size,
    one.offHours.length,
    `${one.worst.messages} on ${one.worst.day}`,
  ]);
  return tableOf(head, rows);
}

function details(account: Account): string {
  const kinds = [...account.kinds].sort(([a], [b]) => (a < b ? -1 : 1));
  const { integration, excused, repeated, missed, unfounded, offHours } = account;
  const lines = [
    `\n${integration}`,
    tableOf(
      ["INCIDENTS", "NOTIFIED", "FIRSTS", "EACH"],
      kinds.map(([kind, { notified, firsts }]) => [kind, notified, firsts, ratio(firsts, notified)]),
    ),
    `not notified: ${excuses.flatMap((one) => (excused.get(one) ? [`${excused.get(one)} ${one}`] : [])).join(", ") || "none"}`,
    `notified again: ${
      [...repeated]
        .sort(([, a], [, b]) => b - a)
        .map(([what, n]) => `${n} ${what}`)
        .join(", ") || "never"
    }`,
    ...missed
      .slice(0, SHOWN)
      .map(({ kind, from, to, effects }) => `missed: ${kind} ${times(from, to)} ${effects[0]?.recording.id ?? ""}`),
    ...unfounded
      .slice(0, SHOWN)
      .map(
        ({ message, alert }) => `false: ${alert.alertname} ${alert.subject.id} ${times(alert.startsAt, message.at)}`,
      ),
    ...offHours.slice(0, SHOWN).map(
      ({ at, reason, firing }) =>
        `off hours: ${new Date(at).toISOString()} ${reason} ${firing
          .map(({ alertname, subject }) => `${alertname}/${subject.id}`)
          .slice(0, 2)
          .join(" ")}`,
    ),
  ];
  return lines.join("\n");
}

function times(from: number, to: number): string {
  return `${new Date(from).toISOString()} to ${new Date(to).toISOString()}`;
}

function ratio(a: number, b: number): string {
  return b === 0 ? "" : (a / b).toFixed(2);
}

function tableOf(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const columns = head.map((text, i) => ({
    head: text,
    cell: (row: readonly (string | number)[]) => String(row[i] ?? ""),
  }));
  return renderTable(columns, rows).trimEnd();
}
