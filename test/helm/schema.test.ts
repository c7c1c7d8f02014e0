import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { isMap, parse, parseDocument, type YAMLMap } from "yaml";
import { chart, configSchema, schemaFile } from "../../.ci/config-schema.ts";
import { rootSection } from "../../src/config/schema.ts";
import { documentKeys } from "../support/document-keys.ts";
import { blocks, readPage } from "../support/documents.ts";

const schema = JSON.parse(readFileSync(schemaFile, "utf8"));
const check = new Ajv({ strict: false, allErrors: true }).compile(schema);
const configs = resolve(chart, "../../config");

describe("the chart's schema", () => {
  test("says of the configuration what lenswatch says (else: node .ci/write-schema.ts)", () => {
    expect(schema.properties.config).toEqual(configSchema());
  });

  test("takes the values the chart has by itself, once there is a configuration", () => {
    const values = parse(readFileSync(`${chart}/values.yaml`, "utf8"));
    expect(check({ ...values, config: shipped("lenswatch.yaml") }), said()).toBe(true);
  });

  test.each(["lenswatch.yaml", "lenswatch.full.yaml"])("takes config/%s", (file) => {
    expect(check({ existingConfigMap: "", config: shipped(file) }), said()).toBe(true);
  });

  test("takes the values the guide for operators shows", () => {
    const shown = blocks(readPage("docs/operations.md"), "yaml").filter((text) => text.startsWith("# values.yaml"));
    expect(shown).toHaveLength(1);
    expect(check(parse(shown[0] ?? "")), said()).toBe(true);
  });

  test("takes a secret from the environment or a file, and never as it is", () => {
    for (const { path } of documentKeys(rootSection).filter(({ secret }) => secret)) {
      const own = (name: string, value: string) => check({ existingConfigMap: "x", config: nest(name, value) });
      own(path, "hunter2-hunter2");
      expect(said(), path).toMatch(/pattern|anyOf/);
      own(path, `\${A_VARIABLE}`);
      expect(said(), path).not.toMatch(/pattern|anyOf/);
      own(`${path}_file`, "/etc/lenswatch-secrets/x");
      expect(said(), path).not.toMatch(/additional|pattern/);
    }
  });

  test("names every key of the chart's values, and no other", () => {
    const values = parse(readFileSync(`${chart}/values.yaml`, "utf8"));
    expect(
      Object.keys(schema.properties)
        .filter((name) => name !== "global")
        .sort(),
    ).toEqual(Object.keys(values).sort());
  });
});

test("every key of the chart's values has a comment", () => {
  const document = parseDocument(readFileSync(`${chart}/values.yaml`, "utf8"));
  const bare = isMap(document.contents) ? uncommented(document.contents) : ["all"];
  expect(bare).toEqual([]);
});

/** The keys without a comment above them; what stands in braces is a value. The first key's is the map's own. */
function uncommented(map: YAMLMap, above = ""): string[] {
  return map.items.flatMap(({ key, value }, index) => {
    const { value: name, commentBefore } = key as { value: string; commentBefore?: string };
    const path = `${above}${name}`;
    const comment = commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    const below = isMap(value) && !value.flow ? uncommented(value, `${path}.`) : [];
    return comment?.trim() || (index === 0 && above === "") ? below : [path, ...below];
  });
}

function shipped(file: string): unknown {
  return parse(readFileSync(resolve(configs, file), "utf8"));
}

const said = () =>
  JSON.stringify(check.errors?.map(({ instancePath, keyword, params }) => [instancePath, keyword, params]) ?? []);

/** `rules[].for` = x as `{ rules: [{ for: x }] }`. */
function nest(path: string, value: string): unknown {
  return path.split(".").reduceRight<unknown>((inner, step) => {
    const list = step.endsWith("[]");
    return { [step.replace("[]", "")]: list ? [inner] : inner };
  }, value);
}
