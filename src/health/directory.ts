/** The directory of shops: labels and contacts by location, and names of camera servers and organisations. Pure. */
import { csvRows } from "../lib/csv.ts";
import { cut, stripControls } from "../lib/text.ts";
import type { GroupLabel, Labels } from "./alert.ts";

/** A column for people, and its value. */
export type Contact = readonly [column: string, value: string];

export interface Shop {
  readonly labels: Labels;
  /** In the order of the configuration. */
  readonly contacts: readonly Contact[];
  /** E-mail addresses by column, of columns that receivers name. */
  readonly recipients: Readonly<Record<string, readonly string[]>>;
}

/** A row, by the id or else the name of its location. */
export interface ShopRow extends Shop {
  readonly line: number;
  readonly id: string;
  readonly name: string;
}

/** The columns of the file that are no labels, by their names as labels. */
export interface DirectoryColumns {
  readonly contacts: readonly string[];
  readonly recipients: readonly string[];
}

export interface Directory {
  readonly rows: readonly ShopRow[];
  /** Names of the columns that are labels. */
  readonly labels: readonly string[];
  /** Sentences on what is not used: rows of a location that has one already, columns with a label of lenswatch. */
  readonly warnings: readonly string[];
  /** By id, of camera servers and organisations. */
  readonly names: ReadonlyMap<string, string>;
  rowOf(id: string, name: string | undefined): ShopRow | undefined;
}

/** The directory by what it is asked for; without one, none of these is there. */
export interface DirectoryLookup {
  shop?(locationId: string): Shop | undefined;
  /** Names of the labels that locations may have by it. */
  shopLabels?(): readonly string[];
  /** The name of a camera server or an organisation. */
  nameOf?(id: string): string | undefined;
  /** The locations of the recordings with this label, or without one all; undefined without a directory. */
  locationsOf?(label?: GroupLabel, value?: string): Iterable<string> | undefined;
}

/** Labels that lenswatch sets itself. */
export const ownLabels: readonly string[] =
  "alertname recording_id recording location_id location organisation camera_server timezone organisation_name camera_server_name".split(
    " ",
  );

const MOST_COLUMNS = 20;
const MOST_CHARACTERS = 200;
const ROWS_PER_STEP = 256;
const MOST_WARNINGS = 20;
/** As browsers check an address; nothing that a header could be broken with. */
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

/** What the directory says of the subject of an alert. */
export interface Described {
  /** The labels that all of its locations share. */
  readonly labels: Labels;
  /** Where they differ in others: each set of those. */
  readonly shops?: readonly Labels[];
  /** The addresses of all of them by column. */
  readonly recipients?: Readonly<Record<string, readonly string[]>>;
}

/** Sets of labels in which the locations of one alert may differ, and characters in them. */
const MOST_SETS = 50;
const MOST_IN_SETS = 10_000;
const MOST_RECIPIENTS = 50;

/** The subject with these locations. */
export function describedBy({ shop }: DirectoryLookup, locations: Iterable<string> | undefined): Described {
  if (!shop || !locations) return { labels: {} };
  const shops = [...locations].map((id) => shop(id));
  const all = shops.map((one) => one?.labels ?? {});
  const values = new Map([...new Set(all.flatMap(Object.keys))].map((name) => [name, valuesOf(name, all)]));
  const shared = [...values].flatMap(([name, found]) =>
    found.size === 1 ? [[name, [...found][0] ?? ""] as const] : [],
  );
  const differing = [...values].filter(([, { size }]) => size > 1).sort(([, a], [, b]) => a.size - b.size);
  const sets = setsOf(
    all,
    differing.flatMap(([name, { size }]) => (size > MOST_SETS ? [] : name)),
  );
  const recipients = recipientsOf(shops);
  return {
    labels: Object.fromEntries(shared),
    ...(sets.length > 1 && { shops: sets }),
    ...(Object.keys(recipients).length > 0 && { recipients }),
  };
}

/** The values of a label, no more than are of interest; "" where it is missing. */
function valuesOf(name: string, all: readonly Labels[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const labels of all) if (found.size <= MOST_SETS) found.add(labels[name] ?? "");
  return found;
}

/** Each set of these labels once. Those with the most values, which come last, are left out where it is too much. */
function setsOf(all: readonly Labels[], names: readonly string[]): Labels[] {
  const sets = new Map<string, Labels>();
  for (const labels of all) {
    const own = names.flatMap((name): [string, string][] => (labels[name] ? [[name, labels[name]]] : []));
    sets.set(JSON.stringify(own), Object.fromEntries(own));
  }
  const isTooMuch = sets.size > MOST_SETS || [...sets.keys()].join("").length > MOST_IN_SETS;
  return isTooMuch ? setsOf(all, names.slice(0, -1)) : [...sets.values()];
}

/** None of a column where there are more than are written to. */
function recipientsOf(shops: readonly (Shop | undefined)[]): Shop["recipients"] {
  const all = shops.flatMap((one) => Object.entries(one?.recipients ?? {}));
  return Object.fromEntries(
    [...Map.groupBy(all, ([column]) => column)].flatMap(([column, cells]) => {
      const addresses = [...new Set(cells.flatMap(([, some]) => some))];
      return addresses.length > MOST_RECIPIENTS ? [] : [[column, addresses]];
    }),
  );
}

/** The labels with the names of what they name. */
export function namesFor(
  { organisation = "", camera_server = "" }: Readonly<Partial<Record<string, string>>>,
  { nameOf }: DirectoryLookup,
): Readonly<Partial<Record<string, string>>> {
  return { organisation_name: nameOf?.(organisation), camera_server_name: nameOf?.(camera_server) };
}

const PHONE = /phone|mobile|tel(?!l)|handy|telefon/i;

/** `Call Joan Smith, 0113 496 0000; it partner NetCo; router in the stock room`: the columns up to a phone, and the others. */
export function contactLine(contacts: readonly Contact[]): string {
  const phone = contacts.findIndex(([column]) => PHONE.test(column));
  const called = contacts.slice(0, phone + 1).map(([, value]) => value);
  const others = contacts
    .slice(phone + 1)
    .map(([column, value]) => (/^notes?$/i.test(column) ? value : `${wordsOf(column)} ${value}`));
  return [...(phone < 0 ? [] : [`Call ${called.join(", ")}`]), ...others].join("; ");
}

/** `it partner`: a column for people. */
export function wordsOf(column: string): string {
  return column.replaceAll("_", " ");
}

/** A link that calls the number in a column of phones; undefined for any other. */
export function phoneLink([column, value]: Contact): string | undefined {
  const number = value.replace(/[^\d+]/g, "");
  return PHONE.test(column) && /^\+?\d{3,15}$/.test(number) ? `tel:${number}` : undefined;
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

/** Ids and names: the columns of these names, else the first two. */
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
  const [first, ...others] = [...take(csvRows(text), mostRows + 1)];
  yield;
  if (!first) return { heads: [], rows: [] };
  const heads = first.cells.map((cell) => stripControls(cell).trim());
  const named = heads.map(columnName).filter((name) => name !== "");
  const double = named.find((name, i) => named.indexOf(name) < i);
  if (double !== undefined) throw new Error(`it has two columns ${cut(double, 50)}`);
  if (named.length > MOST_COLUMNS + 2)
    throw new Error(`it has ${named.length} columns; ${MOST_COLUMNS} beside the key are permitted`);
  const rows: { line: number; values: string[] }[] = [];
  for (const { line, cells } of others) {
    const values = cells.map((cell) => stripControls(cell).trim());
    if (values.slice(heads.length).some((value) => value !== ""))
      throw new Error(`line ${line}: ${cells.length} cells for ${heads.length} columns; is a double quote missing?`);
    const long = values.findIndex((value) => value.length > MOST_CHARACTERS);
    if (long >= 0)
      throw new Error(
        `line ${line}: ${heads[long]} has ${values[long]?.length} characters; ${MOST_CHARACTERS} are permitted`,
      );
    rows.push({ line, values });
    if (rows.length % ROWS_PER_STEP === 0) yield;
  }
  return { heads, rows };
}

function* take<T>(all: Iterable<T>, most: number): Generator<T, void> {
  let n = 0;
  for (const one of all) {
    if (n++ >= most) throw new Error(`it has more than ${most - 1} rows, twice the number of locations`);
    yield one;
  }
}
