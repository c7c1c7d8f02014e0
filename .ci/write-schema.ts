/** Writes the part of the chart's values.schema.json that is the configuration's, after its keys have changed. */
import { readFileSync, writeFileSync } from "node:fs";
import { configSchema, schemaFile } from "./config-schema.ts";

const schema = JSON.parse(readFileSync(schemaFile, "utf8"));
schema.properties.config = configSchema();
writeFileSync(schemaFile, `${JSON.stringify(schema, null, 2)}\n`);
