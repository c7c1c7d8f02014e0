/** The schema of `config` in the chart, generated from the configuration's keys. */
import { resolve } from "node:path";
import { rootSection } from "../src/config/schema.ts";
import { type JsonSchema, toJsonSchema } from "./json-schema.ts";

export const chart = resolve(import.meta.dirname, "../helm/lenswatch");
export const schemaFile = resolve(chart, "values.schema.json");

/** Nothing is required at the top: an existing ConfigMap may replace all of it. */
export function configSchema(): JsonSchema {
  const { required, ...schema } = toJsonSchema(rootSection, "#/properties/config");
  return { description: "The configuration of lenswatch, with secrets by reference.", ...schema };
}
