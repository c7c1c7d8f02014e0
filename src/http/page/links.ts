/** Where the page leads to: always relative, so that it works below any path of a proxy. */

/** From a page to `/`: `./` on `/` itself, `../` below `/recordings/`. */
export type Root = "./" | "../" | "../../";

export type Parameters = Readonly<Record<string, string | undefined>>;

/** `/` with parameters; those that are undefined are left out. */
export function homeLink(root: Root, parameters: Parameters = {}): string {
  return root + queryOf(parameters);
}

export function recordingLink(root: Root, id: string): string {
  return `${root}recordings/${encodeURIComponent(id.toWellFormed())}`;
}

export function alertLink(root: Root, fingerprint: string): string {
  return `${root}alerts/${fingerprint}`;
}

/** The form for a new silence, with its fields filled in. */
export function silenceFormLink(root: Root, parameters: Parameters): string {
  return `${root}silences/new${queryOf(parameters)}`;
}

/** Where to sign in, and then back to a path from `/` on. */
export function signInLink(root: Root, to: string): string {
  return `${root}session${queryOf({ to })}`;
}

/** The page itself, with these parameters instead of its own. */
export function sameLink(parameters: Parameters): string {
  return queryOf(parameters) || "?";
}

function queryOf(parameters: Parameters): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
