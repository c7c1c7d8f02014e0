/** The directory of shops: labels and contacts by location, and names of camera servers and organisations. Pure. */
import { briefId } from "../lib/format.ts";
import { type Alert, type GroupLabel, groupOfSubject, type Labels } from "./alert.ts";

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

/** What the directory says of the subject of an alert. */
export interface Described {
  /** The labels that all of its locations share. */
  readonly labels: Labels;
  /** Where they differ in others: each set of those. */
  readonly shops?: readonly Labels[];
}

/** Sets of labels in which the locations of one alert may differ, and characters in them. */
const MOST_SETS = 50;
const MOST_IN_SETS = 10_000;

/** The subject with these locations. */
export function describedBy({ shop }: DirectoryLookup, locations: Iterable<string> | undefined): Described {
  if (!shop || !locations) return { labels: {} };
  const all = [...locations].map((id) => shop(id)?.labels ?? {});
  const values = new Map([...new Set(all.flatMap(Object.keys))].map((name) => [name, valuesOf(name, all)]));
  const shared = [...values].flatMap(([name, found]) =>
    found.size === 1 ? [[name, [...found][0] ?? ""] as const] : [],
  );
  const differing = [...values].filter(([, { size }]) => size > 1).sort(([, a], [, b]) => a.size - b.size);
  const sets = setsOf(
    all,
    differing.flatMap(([name, { size }]) => (size > MOST_SETS ? [] : name)),
  );
  return { labels: Object.fromEntries(shared), ...(sets.length > 1 && { shops: sets }) };
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

/** The addresses of the locations of an alert by column. */
export type Addresses = ReadonlyMap<string, ReadonlySet<string>>;

/** The addresses by the directory as it is now, which changes while alerts fire. */
export function addressesOf(
  { subject, labels }: Pick<Alert, "subject" | "labels">,
  directory: DirectoryLookup,
): Addresses {
  const group = groupOfSubject(subject);
  const id = labels.location_id;
  const locations = group ? (directory.locationsOf?.(group.label, group.value) ?? []) : id === undefined ? [] : [id];
  const found = new Map<string, Set<string>>();
  for (const one of locations)
    for (const [column, addresses] of Object.entries(directory.shop?.(one)?.recipients ?? {})) {
      const known = found.get(column) ?? new Set();
      for (const address of addresses) known.add(address);
      found.set(column, known);
    }
  return found;
}

/** The labels with the names of what they name. */
export function namesFor(
  { organisation = "", camera_server = "" }: Readonly<Partial<Record<string, string>>>,
  { nameOf }: DirectoryLookup,
): Readonly<Partial<Record<string, string>>> {
  return { organisation_name: nameOf?.(organisation), camera_server_name: nameOf?.(camera_server) };
}

/** The name of a camera server or an organisation; without one, its id. */
export function groupNameIn({ nameOf }: DirectoryLookup, value: string): string {
  return nameOf?.(value) || briefId(value);
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
