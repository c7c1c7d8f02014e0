/** Reads the directory of shops from CSV texts, within bounds. Pure. */
import { csvRows } from "../lib/csv.ts";
import { cut, stripControls } from "../lib/text.ts";
import { type Directory, ownLabels, type ShopRow } from "./directory.ts";

/** The columns of the file that are no labels, by their names as labels. */
export interface DirectoryColumns {
  readonly contacts: readonly string[];
  readonly recipients: readonly string[];
}

const MOST_COLUMNS = 20;
const MOST_CHARACTERS = 200;
const ROWS_PER_STEP = 256;
const MOST_WARNINGS = 20;
/** Each is an integration. */
const MOST_ADDRESSES = 10_000;
/** An address as browsers check it; nothing that a header could be broken with. */
const ADDRESS =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)+$/i;

/** The name of a column as Prometheus allows it in a label. */
export function columnName(head: string): string {
  return head
    .trim()
    .replace(/\W+/g, "_")
    .replace(/^_+|_+$/g, "")
    .replace(/^(?=\d)/, "_");
}

/** The names of locations are compared without regard to case, spacing and composition of their letters. */
function nameKey(name: string): string {
  return stripControls(name).normalize("NFC").trim().replace(/\s+/g, " ").toUpperCase();
}

/** How rows and locations meet. */
export interface DirectoryMatch {
  readonly matched: number;
  readonly locations: number;
  /** Names of locations without a row, and rows without a location. */
  readonly without: readonly string[];
  readonly unmatched: readonly string[];
}

export function matchDirectory(
  directory: Directory,
  locations: readonly { readonly id: string; readonly name: string | undefined }[],
): DirectoryMatch {
  const found = locations.map(({ id, name }) => directory.rowOf(id, name));
  const used = new Set(found);
  return {
    matched: found.filter((row) => row !== undefined).length,
    locations: locations.length,
    without: locations.flatMap(({ id, name }, i) => (found[i] ? [] : name || id)),
    unmatched: directory.rows.flatMap((row) => (used.has(row) ? [] : `${row.id || row.name} (line ${row.line})`)),
  };
}

/** Reads both texts; yields every so many rows. Throws an Error whose message says what is wrong with them. */
export function* readDirectory(
  texts: { readonly locations?: string | undefined; readonly names?: string | undefined },
  columns: DirectoryColumns,
  mostRows = Number.POSITIVE_INFINITY,
): Generator<void, Directory> {
  const rows: ShopRow[] = [];
  const warnings: string[] = [];
  const [byId, byName] = [new Map<string, ShopRow>(), new Map<string, ShopRow>()];
  const table = yield* tableOf(texts.locations ?? "", mostRows);
  const heads = table.heads.map(columnName);
  const isKey = (name: string) => name === "location_id" || name === "location";
  if (texts.locations !== undefined && !heads.some(isKey))
    throw new Error("it has no column location_id or location in its first line");
  for (const name of [...columns.contacts, ...columns.recipients])
    if (texts.locations !== undefined && !heads.includes(name)) throw new Error(`it has no column ${name}`);
  const people = new Set([...columns.contacts, ...columns.recipients]);
  const labels = heads.filter((name) => name !== "" && !people.has(name) && !ownLabels.includes(name));
  for (const name of heads)
    if (ownLabels.includes(name) && !isKey(name))
      warnings.push(`the column ${name} is not used: lenswatch sets that label`);
  for (const { line, values } of table.rows) {
    const row = rowOf(line, new Map(heads.map((name, i) => [name, values[i] ?? ""])), labels, columns);
    for (const name of columns.recipients)
      if (values[heads.indexOf(name)] && !row.recipients[name]?.length)
        warnings.push(`line ${line}: ${name} is no e-mail address`);
    const [known, key] = row.id === "" ? ([byName, nameKey(row.name)] as const) : ([byId, row.id] as const);
    const first = known.get(key);
    if (key === "") warnings.push(`line ${line} names no location`);
    else if (first) warnings.push(`line ${line} is not used: its location has line ${first.line}`);
    else {
      known.set(key, row);
      rows.push(row);
    }
    if (line % ROWS_PER_STEP === 0) yield;
  }
  const addresses = new Set(rows.flatMap(({ recipients }) => Object.values(recipients).flat()));
  if (addresses.size > MOST_ADDRESSES)
    throw new Error(`it has ${addresses.size} e-mail addresses; ${MOST_ADDRESSES} are permitted`);
  return {
    rows,
    labels,
    warnings: warnings.slice(0, MOST_WARNINGS),
    names: yield* namesOf(texts.names, mostRows),
    rowOf: (id, name) => byId.get(id) ?? (name === undefined ? undefined : byName.get(nameKey(name))),
  };
}

function rowOf(
  line: number,
  value: ReadonlyMap<string, string>,
  labels: readonly string[],
  { contacts, recipients }: DirectoryColumns,
): ShopRow {
  const given = (names: readonly string[]) =>
    names.flatMap((name): [string, string][] => (value.get(name) ? [[name, value.get(name) ?? ""]] : []));
  return {
    line,
    id: value.get("location_id") ?? "",
    name: value.get("location") ?? "",
    labels: Object.fromEntries(given(labels)),
    contacts: given(contacts),
    recipients: Object.fromEntries(given(recipients).map(([name, text]) => [name, addressesIn(text)])),
  };
}

/** The addresses of a cell, each once. */
function addressesIn(text: string): string[] {
  return [...new Set(text.toLowerCase().split(/[\s,;]+/))].filter((one) => ADDRESS.test(one));
}

/** Names by id. */
function* namesOf(text: string | undefined, mostRows: number): Generator<void, ReadonlyMap<string, string>> {
  const { heads, rows } = yield* tableOf(text ?? "", 2 * mostRows);
  const columns = heads.map(columnName);
  const [id, name] = [columns.indexOf("id"), columns.indexOf("name")];
  if (text !== undefined && (id < 0 || name < 0))
    throw new Error("the file of names has no columns id and name in its first line");
  return new Map(rows.flatMap(({ values }) => (values[id] && values[name] ? [[values[id], values[name]]] : [])));
}

interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly { readonly line: number; readonly values: readonly string[] }[];
}

/** A table within the bounds, its values as visible text. */
function* tableOf(text: string, mostRows: number): Generator<void, Table> {
  let heads: readonly string[] | undefined;
  const rows: { line: number; values: readonly string[] }[] = [];
  for (const { line, cells } of csvRows(text)) {
    const values = cells.map((cell) => stripControls(cell).trim());
    const problem = heads ? rowProblem(heads, values) : headsProblem(values);
    if (problem) throw new Error(heads ? `line ${line}: ${problem}` : `it has ${problem}`);
    if (heads && rows.length >= mostRows)
      throw new Error(`it has more than ${mostRows} rows, twice the number of locations`);
    if (heads) rows.push({ line, values });
    heads ??= values;
    if (rows.length % ROWS_PER_STEP === 0) yield;
  }
  return { heads: heads ?? [], rows };
}

function headsProblem(heads: readonly string[]): string | undefined {
  const named = heads.map(columnName).filter((name) => name !== "");
  const double = named.find((name, i) => named.indexOf(name) < i);
  if (double !== undefined) return `two columns ${cut(double, 50)}`;
  return named.length > MOST_COLUMNS + 2
    ? `${named.length} columns; ${MOST_COLUMNS} beside the key are permitted`
    : undefined;
}

function rowProblem(heads: readonly string[], values: readonly string[]): string | undefined {
  if (values.slice(heads.length).some((value) => value !== ""))
    return `${values.length} cells for ${heads.length} columns; is a double quote missing?`;
  const long = values.findIndex((value) => value.length > MOST_CHARACTERS);
  return long < 0
    ? undefined
    : `${cut(heads[long] ?? "", 50)} has ${values[long]?.length} characters; ${MOST_CHARACTERS} are permitted`;
}
