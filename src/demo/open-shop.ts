/** A location where shops have been open for some hours: the demo's camera that is online and counts nobody is there. */
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import { inZone } from "../lib/when.ts";

/** At most three hours apart, all year; of none does the simulator know holidays. */
const SHOPS: Readonly<Record<string, string>> = {
  "Auckland Queen Street": "Pacific/Auckland",
  "Brisbane Edward Street": "Australia/Brisbane",
  "Bangkok Siam Square": "Asia/Bangkok",
  "Dubai Al Rigga Road": "Asia/Dubai",
  "Vienna Kärntner Straße": "Europe/Vienna",
  "Reykjavik Laugavegur": "Atlantic/Reykjavik",
  "São Paulo Rua Oscar Freire": "America/Sao_Paulo",
  "Toronto Bloor Street": "America/Toronto",
  "Vancouver Robson Street": "America/Vancouver",
  "Honolulu Kalakaua Avenue": "Pacific/Honolulu",
};
/** After noon. */
const AFTERNOON_MS = 3.5 * HOUR_MS;

/** The one where it is closest to 15:30, between 13:30 and 17:00, and the last noon there. */
export function openShop(now: Instant): { readonly name: string; readonly timezone: string; readonly noon: Instant } {
  const shops = Object.entries(SHOPS).map(([name, timezone]) => {
    return { name, timezone, noon: inZone(now, timezone).startOf("day").set({ hour: 12 }).toMillis() };
  });
  const distance = (noon: Instant) => Math.abs(now - noon - AFTERNOON_MS);
  return shops.reduce((best, shop) => (distance(shop.noon) < distance(best.noon) ? shop : best));
}
