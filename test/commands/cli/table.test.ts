import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { renderTable, type TableColumn, tableTarget } from "../../../src/commands/cli/table.ts";

const columns: TableColumn<readonly string[]>[] = [
  { head: "RECORDING", cell: ([name = ""]) => name, canShrink: true },
  { head: "STATUS", cell: ([_, status = ""]) => status },
  { head: "UPTIME", cell: ([_name, _status, uptime = ""]) => uptime, align: "right" },
];
const rows = [
  ["Till 1", "online", "100 %"],
  ["First floor landing, towards the escalators", "offline", "85 %"],
];

describe("a table", () => {
  test("is aligned plain text where the output is not a terminal", () => {
    expect(renderTable(columns, rows, { width: undefined, colour: true })).toBe(
      [
        "RECORDING                                    STATUS   UPTIME",
        "Till 1                                       online    100 %",
        "First floor landing, towards the escalators  offline    85 %",
        "",
      ].join("\n"),
    );
  });

  test("fits the terminal by cutting what can be cut", () => {
    expect(renderTable(columns, rows, { width: 40 })).toBe(
      [
        "RECORDING                STATUS   UPTIME",
        "Till 1                   online    100 %",
        "First floor landing, t…  offline    85 %",
        "",
      ].join("\n"),
    );
  });

  test("never cuts a name to nothing, nor a status, however narrow the terminal", () => {
    const lines = renderTable(columns, rows, { width: 10 }).split("\n");
    expect(lines[2]).toBe("First f…  offline    85 %");
  });

  test("has bold heads on a terminal that has colours", () => {
    expect(renderTable(columns, rows, { width: 100, colour: true })).toContain("\u001b[1mSTATUS\u001b[22m");
    expect(renderTable(columns, rows, { width: 100 })).not.toContain("\u001b");
  });

  test("keeps its columns with wide and combining characters", () => {
    const wide = renderTable(
      columns,
      [
        ["東京 🎥", "online", ""],
        ["Cafe\u0301", "online", ""],
      ],
      { width: undefined },
    );
    expect(wide.split("\n").slice(1, 3)).toEqual(["東京 🎥    online", "Cafe\u0301       online"]);
  });

  test("lets no cell move the cursor or add a line", () => {
    const text = renderTable(columns, [["\u001b[2Ja\r\nb\u202e", "on\u0000line", ""]], { width: undefined });
    expect(text).toBe("RECORDING  STATUS  UPTIME\n[2Ja b     online\n");
  });

  test("has no seam however long it is", () => {
    const many = Array.from({ length: 250 }, (_, i) => [`Camera ${i}`, "online", `${i} %`]);
    const lines = renderTable(columns, many, { width: 80 }).trimEnd().split("\n");
    expect(lines).toHaveLength(251);
    expect(new Set(lines.slice(1).map((line) => line.indexOf("online")))).toEqual(new Set([12]));
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set([26]));
  });

  test("is as wide as the terminal, and plain anywhere else", () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 132 });
    expect(tableTarget({ stdout: terminal, env: {} })).toEqual({ width: 132, colour: true });
    expect(tableTarget({ stdout: terminal, env: { NO_COLOR: "1" } })).toEqual({ width: 132, colour: false });
    expect(tableTarget({ stdout: new PassThrough(), env: {} })).toEqual({ width: undefined });
  });

  test("without rows is its heads", () => {
    expect(renderTable(columns, [], { width: 80 })).toBe("RECORDING  STATUS  UPTIME\n");
  });
});
