import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { renderGroups, renderTable, type TableColumn, tableTarget } from "../../../src/commands/cli/table.ts";

const columns: TableColumn<readonly string[]>[] = [
  { head: "RECORDING", cell: ([name = ""]) => name, wraps: true },
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

  test("fits the terminal in more lines, and cuts nothing", () => {
    expect(renderTable(columns, rows, { width: 40 })).toBe(
      [
        "RECORDING                STATUS   UPTIME",
        "Till 1                   online    100 %",
        "First floor landing,     offline    85 %",
        "towards the escalators",
        "",
      ].join("\n"),
    );
  });

  test("keeps words whole, and a status on one line, however narrow the terminal", () => {
    const lines = renderTable(columns, rows, { width: 10 }).split("\n");
    expect(lines.slice(2, 6)).toEqual(["First      offline    85 %", "floor", "landing,", "towards"]);
    const long = renderTable(columns, [["Kassenbereichsüberwachung", "online", ""]], { width: 10 });
    expect(
      long
        .split("\n")
        .slice(1)
        .join("")
        .replaceAll(/ |online/g, ""),
    ).toBe("Kassenbereichsüberwachung");
  });

  test("leaves out the least important columns before a name has little room", () => {
    const wide = [...columns, { head: "RECEIVERS", cell: () => "ops", canDrop: true }];
    expect(renderTable(wide, rows, { width: 50 })).toContain("UPTIME  RECEIVERS\n");
    expect(renderTable(wide, rows, { width: 46 })).not.toContain("RECEIVERS");
  });

  test("has a line above each group, and no heads where no group has rows", () => {
    const groups = [
      { heading: "Leeds\u001b[2J", rows: rows.slice(0, 1) },
      { heading: "York", rows: [] },
    ];
    const text = renderGroups(columns, groups, { width: 40 });
    expect(text).toBe("  RECORDING  STATUS  UPTIME\nLeeds[2J\n  Till 1     online   100 %\nYork\n");
    expect(renderGroups(columns, groups.slice(1), { width: undefined })).toBe("York\n");
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
