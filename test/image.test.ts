import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { commandTable } from "../src/commands/cli/program.ts";

const root = resolve(import.meta.dirname, "..");
const steps = readFileSync(resolve(root, "Dockerfile"), "utf8")
  .replace(/^\s*#.*\n/gm, "")
  .replace(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "");
const last = steps.slice(steps.findLastIndex((step) => step.startsWith("FROM ")));
const instruction = (name: string) =>
  last.filter((step) => step.startsWith(`${name} `)).map((step) => step.slice(name.length + 1));

describe("the image", () => {
  test("runs as nobody's root and stops at SIGTERM", () => {
    expect(instruction("USER")).toEqual(["node"]);
    expect(instruction("STOPSIGNAL")).toEqual(["SIGTERM"]);
  });

  test("needs no shell: what it runs is a list, and there is such a command", () => {
    const [entry = "", run = ""] = [...instruction("ENTRYPOINT"), ...instruction("CMD")];
    const check = /CMD (\[.*\])$/.exec(instruction("HEALTHCHECK")[0] ?? "")?.[1] ?? "";
    expect(JSON.parse(entry)).toEqual(["node", "src/main.ts"]);
    const names = commandTable.map(({ name }) => name);
    expect(names).toContain(JSON.parse(run)[0]);
    expect(JSON.parse(check).slice(0, 2)).toEqual(JSON.parse(entry));
    expect(names).toContain(JSON.parse(check)[2]);
    expect(last.filter((step) => step.startsWith("RUN"))).toEqual([]);
  });

  test("copies what is there and what the build may see", () => {
    const seen = readFileSync(resolve(root, ".dockerignore"), "utf8").split("\n");
    const copied = steps
      .filter((step) => step.startsWith("COPY ") && !step.includes("--from"))
      .flatMap((step) => step.split(/\s+/).slice(1, -1));
    expect(copied).toContain("src");
    for (const path of copied) {
      expect(existsSync(resolve(root, path)), path).toBe(true);
      expect(seen).toContain(`!${path}`);
    }
  });

  test("holds neither development packages nor install scripts", () => {
    expect(steps.find((step) => step.includes("npm ci"))).toMatch(/--omit=dev --ignore-scripts/);
  });
});
