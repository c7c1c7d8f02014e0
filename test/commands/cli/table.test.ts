import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitLines, renderGroups, renderTable, type TableColumn, tableTarget } from "../../../src/commands/cli/table.ts";

const columns: TableColumn<readonly string[]>[] = [
  { head: "RECORDING", cell: ([name = ""]) => name, wraps: true },
  { head: "STATUS", cell: ([_, status = ""]) => status },
  { head: "UPTIME", cell: ([_name, _status, uptime = ""]) => uptime, align: "right" },
];
const rows = [
  ["Till 1", "online", "100 %"],
  ["First floor landing, towards the escalators", "offline", "85 %"],
];

const dropped: TableColumn<readonly string[]> = { head: "RECEIVERS", cell: () => "ops", canDrop: true };
const wide = [
  ["東京 🎥", "online", ""],
  ["Cafe\u0301", "online", ""],
];
const hostile = [["\u001b[2Ja\r\nb\u202e", "on\u0000line", ""]];
const groups = [
  { heading: "Leeds\u001b[2J", rows: rows.slice(0, 1) },
  { heading: "York", rows: [] },
];

describe("a table", () => {
  test.each<[string, number | undefined, (readonly (readonly string[])[])?, typeof columns?]>([
    ["is aligned plain text where the output is not a terminal", undefined],
    ["fits the terminal in more lines, and cuts nothing", 40],
    ["keeps words whole, and a status on one line, however narrow the terminal", 10],
    ["breaks a word that is longer than a line", 10, [["Kassenbereichsüberwachung", "online", ""]]],
    ["has a column that may be left out where there is room", 50, rows, [...columns, dropped]],
    ["leaves it out before a name has little room", 46, rows, [...columns, dropped]],
    ["keeps its columns with wide and combining characters", undefined, wide],
    ["lets no cell move the cursor or add a line", undefined, hostile],
    ["without rows is its heads", 80, []],
  ])("%s", (_, width, shown = rows, of = columns) => {
    expect(`\n${renderTable(of, shown, { width, colour: width === undefined })}`).toMatchSnapshot();
  });

  test("has a line above each group, and no heads where no group has rows", () => {
    const text = renderGroups(columns, groups, { width: 40 });
    expect(text).toBe("  RECORDING  STATUS  UPTIME\nLeeds[2J\n  Till 1     online   100 %\nYork\n");
    expect(renderGroups(columns, groups.slice(1), { width: undefined })).toBe("York\n");
  });

  test("is as wide as the terminal, with bold heads where it has colours, and plain anywhere else", () => {
    const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 132 });
    expect(tableTarget({ stdout, env: {} })).toEqual({ width: 132, colour: true });
    expect(tableTarget({ stdout, env: { NO_COLOR: "1" } })).toEqual({ width: 132, colour: false });
    expect(tableTarget({ stdout: new PassThrough(), env: {} })).toEqual({ width: undefined });
    expect(renderTable(columns, rows, { width: 100, colour: true })).toContain("\u001b[1mSTATUS\u001b[22m");
  });
});

test("lines are broken between words, and go on below what follows a time or an id", () => {
  const text = "Leeds\n  04:03:26  RecordingOffline: offline → 04:03:29 Slack, e-mail → recovered\n  rec-1  Till 1";
  expect(fitLines(text, { width: 40 })).toBe(
    "Leeds\n  04:03:26  RecordingOffline: offline →\n            04:03:29 Slack, e-mail →\n            recovered\n  rec-1  Till 1",
  );
  expect(fitLines(text, { width: undefined })).toBe(text);
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 40, size: "max" }),
      fc.integer({ min: 30, max: 80 }),
      (words, width) => {
        const lines = fitLines(`  08:00:00  ${words.join(" ")}`, { width }).split("\n");
        expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
        expect(lines.map((line) => line.trim()).join(" ")).toBe(`08:00:00  ${words.join(" ")}`);
      },
    ),
  );
});
