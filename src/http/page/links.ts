/** Where the page leads to: always relative, so that it works below any path of a proxy. */

/** From a page to `/`: `./` on `/` itself, `../` below `/recordings/`. */
export type Root = "./" | "../";

export type Parameters = Readonly<Record<string, string | undefined>>;

/** `/` with parameters; those that are undefined are left out. */
export function homeLink(root: Root, parameters: Parameters = {}): string {
  return root + queryOf(parameters);
}

export function recordingLink(root: Root, id: string): string {
  return `${root}recordings/${encodeURIComponent(id.toWellFormed())}`;
}

/** The page itself, with these parameters instead of its own. */
export function sameLink(parameters: Parameters): string {
  return queryOf(parameters) || "?";
}

function queryOf(parameters: Parameters): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
