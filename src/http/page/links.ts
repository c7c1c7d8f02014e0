/** Links between pages: always relative, so that they work below any path of a proxy. */

/** From a page to `/`: `./` on `/` itself, `../` below `/recordings/`. */
export type Root = "./" | "../" | "../../";

export type LinkParameters = Readonly<Record<string, string | undefined>>;

/** `/` with parameters; undefined ones are left out. */
export function homeLink(root: Root, parameters: LinkParameters = {}): string {
  return root + queryOf(parameters);
}

export function recordingLink(root: Root, id: string): string {
  return `${root}recordings/${encodeURIComponent(id.toWellFormed())}`;
}

export function alertLink(root: Root, fingerprint: string): string {
  return `${root}alerts/${fingerprint}`;
}

/** The form for a new silence, with its fields filled in. */
export function silenceFormLink(root: Root, parameters: LinkParameters): string {
  return `${root}silences/new${queryOf(parameters)}`;
}

/** The sign-in page, which leads back to the path `to`, from `/` on. */
export function signInLink(root: Root, to: string): string {
  return `${root}session${queryOf({ to })}`;
}

/** The page itself with other parameters. */
export function sameLink(parameters: LinkParameters): string {
  return queryOf(parameters) || "?";
}

function queryOf(parameters: LinkParameters): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
