/** What the chart's schema must say of `config`: what lenswatch itself says. */
import { resolve } from "node:path";
import { type JsonSchema, toJsonSchema } from "../../src/config/json-schema.ts";
import { configSection } from "../../src/config/schema.ts";

export const chart = resolve(import.meta.dirname, "../../helm/lenswatch");
export const schemaFile = resolve(chart, "values.schema.json");

/** As lenswatch has it, with nothing required at the top: a ConfigMap of one's own may stand in for all of it. */
export function configSchema(): JsonSchema {
  const { required, ...schema } = toJsonSchema(configSection, "#/properties/config");
  return { description: "The configuration of lenswatch, with secrets by reference.", ...schema };
}
