/** Which of the two formats a scraper wants (RFC 9110, 12.5.1). */
import type { ExpositionFormat } from "./text.ts";

interface Range {
  readonly type: string;
  readonly version: string | undefined;
  readonly quality: number;
  readonly position: number;
}

const OFFERS = [
  { format: "prometheus", type: "text/plain", version: "0.0.4" },
  { format: "openmetrics", type: "application/openmetrics-text", version: "1.0.0" },
] as const satisfies readonly { format: ExpositionFormat; type: string; version: string }[];

/**
 * The format with the highest quality; where both are as welcome, the one named more precisely, then first.
 * A range for everything asks for no OpenMetrics.
 * Nothing acceptable gives Prometheus text rather than a 406: that is what every scraper reads.
 */
export function negotiateFormat(accept: string | undefined): ExpositionFormat {
  const ranges = parseAccept(accept ?? "");
  const welcomed = OFFERS.map((offer) => ({ offer, best: bestRange(ranges, offer) })).filter(
    ({ offer, best }) =>
      best !== undefined && best.quality > 0 && (offer.format === "prometheus" || best.type !== "*/*"),
  );
  welcomed.sort(
    (a, b) =>
      (b.best?.quality ?? 0) - (a.best?.quality ?? 0) ||
      precision(b.best) - precision(a.best) ||
      (a.best?.position ?? 0) - (b.best?.position ?? 0),
  );
  return welcomed[0]?.offer.format ?? "prometheus";
}

function parseAccept(accept: string): Range[] {
  return accept.split(",").map((text, position) => {
    const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
    const parameter = (name: string) =>
      parameters.find((p) => p.startsWith(`${name}=`))?.slice(name.length + 1);
    const quality = Number(parameter("q") ?? 1);
    return {
      type,
      version: parameter("version")?.replaceAll('"', ""),
      quality: quality >= 0 && quality <= 1 ? quality : 0,
      position,
    };
  });
}

/** The most precise range that covers the offer decides about it, be its quality high or low. */
function bestRange(ranges: readonly Range[], offer: (typeof OFFERS)[number]): Range | undefined {
  const group = `${offer.type.split("/", 1)[0]}/*`;
  const covering = ranges.filter(
    ({ type, version }) =>
      (type === offer.type && (version === undefined || version === offer.version)) ||
      type === group ||
      type === "*/*",
  );
  return covering.sort((a, b) => precision(b) - precision(a) || b.quality - a.quality)[0];
}

function precision(range: Range | undefined): number {
  if (!range || range.type === "*/*") return 0;
  if (range.type.endsWith("/*")) return 1;
  return range.version === undefined ? 2 : 3;
}
