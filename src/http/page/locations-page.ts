/** `GET /?show=locations`: all locations as a table, filtered and sorted. */
import {
  alertsByLocation,
  type LocationSummary,
  locationSortKey,
  summaryOf,
  toneNow,
} from "../../alerting/overview.ts";
import { count, counted } from "../../lib/format.ts";
import { html, type Markup } from "../../lib/markup.ts";
import { sortKey } from "../../lib/sort-key.ts";
import { listingOf } from "../paging.ts";
import { textMatcher } from "../search.ts";
import { filterForm, selectOf, textInput } from "./field.ts";
import type { HtmlPage } from "./layout.ts";
import { type HomeQuery, homeLink, locationFilters, type locationOrders } from "./links.ts";
import { listed } from "./listing.ts";
import type { PageData } from "./page-data.ts";
import { locationTable } from "./summary.ts";

/** Four screens of a phone. */
const LOCATIONS_A_PAGE = 40;

export function locationsPage(data: PageData, query: HomeQuery): HtmlPage {
  const { q, only, sort, cursor } = query;
  const { fleet } = data;
  const alerts = alertsByLocation(data);
  const locations = fleet.locations.values().map((location) => summaryOf(location, fleet, alerts));
  const matches = q === undefined ? undefined : textMatcher(q);
  const keyOf = (location: LocationSummary) => {
    if (only !== undefined && !isIn(location, only)) return undefined;
    if (matches && !matches([location.name, location.id, location.organisation])) return undefined;
    return ORDERS[sort ?? "worst"](location);
  };
  const listing = listingOf(locations, { limit: LOCATIONS_A_PAGE, cursor }, keyOf);
  const parameters = { show: "locations", q, only, sort };
  const order = ORDER_WORDS[sort ?? "worst"];
  const link = (next: string | undefined) => homeLink("./", { ...parameters, cursor: next });
  const total = listing.total === fleet.locations.size ? "" : ` of ${count(fleet.locations.size)}`;
  return {
    here: "locations",
    title: "Locations",
    tone: toneNow(listing.items),
    parameters,
    path: homeLink("./", parameters).slice(2),
    body: html`<h1>${counted(listing.total, "location")}${total}</h1>${filters(query)}
${listed(listing, "locations", link, locationTable(listing.items, `Locations, ${order}`), order)}`,
  };
}

/** By status; of alerts, those with any that needs somebody. */
function isIn({ needed, tone, counts }: LocationSummary, only: (typeof locationFilters)[number]): boolean {
  if (only === "alerts") return needed > 0;
  return only === "online" ? tone === "good" : counts[only] > 0;
}

const descending = (n: number) => String(1e9 - n).padStart(10, "0");

const ORDERS: Readonly<Record<(typeof locationOrders)[number], (location: LocationSummary) => string>> = {
  worst: locationSortKey,
  name: ({ name, id }) => sortKey("", [name], id),
  alerts: ({ needed, name, id }) => sortKey(descending(needed), [name], id),
  organisation: ({ organisation, name, id }) => sortKey("", [organisation, name], id),
};

const ORDER_WORDS: Readonly<Record<(typeof locationOrders)[number], string>> = {
  worst: "the worst first",
  name: "by name",
  alerts: "most alerts first",
  organisation: "by organisation",
};

const FILTERS = [["", "any status"] as const, ...locationFilters.map((one) => [one, one] as const)];

function filters({ q, only, sort }: HomeQuery): Markup {
  const inputs = [
    ["Name", textInput("q", q)],
    ["With", selectOf("only", FILTERS, only)],
    ["Order", selectOf("sort", Object.entries(ORDER_WORDS), sort)],
  ] as const;
  return filterForm("./", inputs, { show: "locations" });
}
