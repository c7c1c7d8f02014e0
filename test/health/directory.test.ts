import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contactLine, type Directory, phoneLink } from "../../src/health/directory.ts";
import { columnName, matchDirectory, readDirectory } from "../../src/health/read-directory.ts";
import { csvLines, csvRows } from "../../src/lib/csv.ts";

function directoryOf(locations: string, more: { contacts?: string[]; names?: string; mostRows?: number } = {}) {
  const { contacts = [], names, mostRows } = more;
  const steps = readDirectory({ locations, names }, { contacts, recipients: [] }, mostRows);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value satisfies Directory;
  }
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

test("every table that is written as CSV is read as it was, whatever separates its cells", () => {
  const cell = fc.oneof(fc.string(), fc.constantFrom('"', '""', ",", ";", "\t", "\n", "\r\n", 'a "quote"', "ä,ö"));
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 5, size: "max" });
  fc.assert(
    fc.property(table, fc.constantFrom(",", ";", "\t"), fc.constantFrom("\n", "\r\n"), (rows, separator, end) => {
      const all = [["first", "second"], ...rows];
      const text = all.map((row) => row.map(quoted).join(separator)).join(end);
      const kept = all.filter((row) => row.some((one) => one !== ""));
      expect([...csvRows(text)].map(({ cells }) => cells)).toEqual(kept);
    }),
    { numRuns: 2_000 },
  );
  expect(
    [
      ...csvRows(
        csvLines([
          ["a", 1],
          ["b", 'c"d'],
        ]),
      ),
    ].map(({ cells }) => cells),
  ).toEqual([
    ["a", "1"],
    ["b", 'c"d'],
  ]);
});

test("a row begins at its line, also after cells of several lines", () => {
  const text = 'id,notes\n1,"two\nlines"\n\n2,x\n';
  expect([...csvRows(text)].map(({ line }) => line)).toEqual([1, 2, 5]);
});

test.each([
  ['a,b\n1,"2', "line 2: the closing double quote is missing"],
  ['a,b\n"1"x,2', "line 2: text after a closing double quote"],
])("a broken text is refused: %j", (text, message) => expect(() => [...csvRows(text)]).toThrow(message));

/** 1,000 shops as a real export has them: a row each, two of them twice, one that does not exist. */
function thousandShops() {
  const locations = Array.from({ length: 1_000 }, (_, i) => ({
    id: i.toString(16).padStart(24, "0"),
    name: `${["Köln Straße", 'Leeds "Briggate"', "São Paulo", "O'Connell, Dublin"][i % 4]} ${i}`,
  }));
  const rows = locations.map(({ name }, i) => [name, i % 2 ? "north" : "south", `Jörg "${i}" Müller`, `0113 ${i}`]);
  const head = ["location", "Region", "manager", "phone"];
  const all = [head, ...rows, rows[7] ?? [], rows[8] ?? [], ["Nowhere", "north", "Nobody", ""]];
  const csv = all.map((row) => row.map(quoted).join(";")).join("\r\n");
  return { locations, csv };
}

describe("a file of 1,000 shops with quotes, umlauts, duplicates and a shop that does not exist", () => {
  const { locations, csv } = thousandShops();
  const directory = directoryOf(csv, { contacts: ["phone", "manager"] });

  test("each shop is found by its name", () => {
    expect(directory.labels).toEqual(["Region"]);
    for (const [i, { id, name }] of locations.entries()) {
      const row = directory.rowOf(id, name.normalize("NFD").toUpperCase());
      expect(row?.labels).toEqual({ Region: i % 2 ? "north" : "south" });
      expect(row?.contacts).toEqual([
        ["phone", `0113 ${i}`],
        ["manager", `Jörg "${i}" Müller`],
      ]);
    }
  });

  test("the rest is said", () => {
    expect(directory.warnings).toEqual([
      "line 1002 is not used: its location has line 9",
      "line 1003 is not used: its location has line 10",
    ]);
    expect(matchDirectory(directory, [...locations, { id: "f", name: undefined }])).toEqual({
      matched: 1_000,
      locations: 1_001,
      without: ["f"],
      unmatched: ["Nowhere (line 1004)"],
    });
  });
});

test("an id is the key before a name, and lenswatch's own labels are no columns", () => {
  const directory = directoryOf("location_id,location,timezone,IT partner\na,Leeds,UTC,NetCo\n,York,UTC,\n");
  expect(directory.labels).toEqual(["IT_partner"]);
  expect(directory.rowOf("a", "York")?.labels).toEqual({ IT_partner: "NetCo" });
  expect(directory.rowOf("b", " york ")?.labels).toEqual({});
  expect(directory.rowOf("b", "Leeds")).toBeUndefined();
  expect(directory.warnings).toEqual(["the column timezone is not used: lenswatch sets that label"]);
});

test("addresses are read from columns of recipients, which are no labels; what is none is said", () => {
  const steps = readDirectory(
    { locations: "location,mail\nLeeds,Jo@X.org; b@x.org jo@x.org\nYork,nobody\nBath,\n" },
    { contacts: [], recipients: ["mail"] },
  );
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { rows, labels, warnings } = step.value;
  expect(rows.map(({ recipients }) => recipients.mail)).toEqual([["jo@x.org", "b@x.org"], [], undefined]);
  expect([labels, warnings]).toEqual([[], ["line 3: mail is no e-mail address"]]);
});

test("more addresses than can be written to are refused, and said", () => {
  const rows = Array.from({ length: 10_001 }, (_, i) => `${i},m${i}@x.org`);
  const read = () => [
    ...readDirectory({ locations: ["location,mail", ...rows].join("\n") }, { contacts: [], recipients: ["mail"] }),
  ];
  expect(read).toThrow("it has 10001 e-mail addresses; 10000 are permitted");
  rows.pop();
  expect(read).not.toThrow();
});

test("a contact is called by phone; a number is a link", () => {
  const contacts = [
    ["manager", "Joan Smith"],
    ["phone", "0113 496 0000"],
    ["it_partner", "NetCo"],
    ["notes", "router in the stock room"],
  ] as const;
  expect(contactLine(contacts)).toBe("Call Joan Smith, 0113 496 0000; it partner NetCo; router in the stock room");
  expect(contactLine([["manager", "Joan"]])).toBe("manager Joan");
  expect(contactLine([])).toBe("");
  expect(contacts.map(phoneLink)).toEqual([undefined, "tel:01134960000", undefined, undefined]);
  expect(phoneLink(["phone", "javascript:alert(1)"])).toBeUndefined();
});

test.each([
  ["name,region\nLeeds,north", {}, "it has no column location_id or location in its first line"],
  ["location,region\nLeeds,north", { contacts: ["phone"] }, "it has no column phone"],
  ["location,a,A-,A_\nLeeds,1,2,3", {}, "it has two columns A"],
  [
    `location,${Array.from({ length: 22 }, (_, i) => `c${i}`)}\n`,
    {},
    "it has 23 columns; 20 beside the key are permitted",
  ],
  ["location,region\nLeeds,north,1\n", {}, "line 2: 3 cells for 2 columns; is a double quote missing?"],
  [`location,region\nLeeds,${"x".repeat(201)}\n`, {}, "line 2: region has 201 characters; 200 are permitted"],
  ["location\na\nb\nc\n", { mostRows: 2 }, "it has more than 2 rows, twice the number of locations"],
  ["location\na\n", { names: "id\nx" }, "the file of names has no columns id and name in its first line"],
])("is refused: %j", (text, more, message) => expect(() => directoryOf(text, more)).toThrow(message));

test("names of columns are as Prometheus allows", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (head) => {
      expect(columnName(head)).toMatch(/^(?:[a-zA-Z_][a-zA-Z0-9_]*)?$/);
      expect(columnName(head)).not.toMatch(/^__/);
    }),
  );
});

test("what is not visible is left out", () => {
  const { names, rows } = directoryOf('location,region\nLeeds,"no\u202erth\n\u0007x"\n', {
    names: "id,name\na,Ed\u200bge 7\n",
  });
  expect(rows[0]?.labels).toEqual({ region: "north x" });
  expect(names.get("a")).toBe("Edge 7");
});
