/** `directory`: what is known of shops beyond the service, from files or URLs. */
import { resolve } from "node:path";
import type { z } from "zod";
import { columnName } from "../health/read-directory.ts";
import { httpConfig, withHttp } from "./http-client-schema.ts";
import { mapped, optional, refuse, section, withDefault } from "./key.ts";
import { duration, line, oneOrMore, resourceUrl } from "./scalars.ts";

/** The name of a column, as a label of that name is written. */
export const column = line.transform(columnName).refine((name) => name !== "", { error: "the name of a column" });

const sourceKeys = {
  file: optional("The path of a CSV file; a relative one starts at the configuration's directory.", line),
  url: optional("Instead of `file`: the URL of a CSV file.", resourceUrl(" without a login"), { secret: true }),
  http_config: httpConfig("it"),
};

const source = mapped(
  section(sourceKeys, ({ file, url }, context) => {
    if ((file === undefined) === (url === undefined)) refuse(context, "file", "either a file or a url");
  }),
  withHttp,
);

export const directorySection = section({
  locations: optional(
    "Rows by the column `location_id` or `location` (its name); the other columns are labels of the location.",
    source,
  ),
  names: optional("Names of camera servers and organisations: the columns `id` and `name`.", source),
  contacts: withDefault(
    "Columns that are shown to people and are no labels, in this order.",
    oneOrMore(column, "a list of columns"),
    [],
  ),
  refresh_interval: withDefault("How often the files and URLs are read again.", duration("1s", "1d"), "1m"),
});

type DirectoryInput = z.output<typeof directorySection.schema>;
type Source = NonNullable<DirectoryInput["locations"]>;

/** The section with absolute paths: relative ones start at `directory`. */
export function resolvePaths({ locations, names, ...rest }: DirectoryInput, directory: string) {
  const absolute = (one: Source | undefined): Source | undefined =>
    one?.file === undefined ? one : { ...one, file: resolve(directory, one.file) };
  return { ...rest, locations: absolute(locations), names: absolute(names) };
}
