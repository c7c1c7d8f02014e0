/** Renders the chart with the real helm, and reads what comes out. */
import { execFile, execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { chart } from "../../.ci/config-schema.ts";

// .ci/go-tools puts its tools there.
const env = { ...process.env, PATH: `${resolve(import.meta.dirname, "../../.cache/bin")}:${process.env.PATH}` };
/** Named, since a helm built without release flags takes Kubernetes for 1.20. */
export const kube = ["--kube-version", "1.34.0"];
export const helm = async (...args: string[]) => (await promisify(execFile)("helm", args, { env })).stdout;
const valuesFile = (values: string) => `${chart}/ci/${values}-values.yaml`;

/** Why tests that need the command are skipped, or undefined where it is there. */
export function lacks(command: string, ...args: string[]): string | undefined {
  try {
    execFileSync(command, args, { stdio: "ignore", env });
    return undefined;
  } catch {
    return `there is no ${command} here`;
  }
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  // Read with the paths of a test in mind; the types of Kubernetes are held by the strict decoding.
  readonly [key: string]: unknown;
}

const rendered = new Map<string, Promise<string>>();

/** The text of all manifests, the same for the same arguments. Throws what helm says on stderr. */
export function template(values: string, ...set: string[]): Promise<string> {
  const more = set.flatMap((one) => ["--set", one]);
  const args = ["watch", chart, "--namespace", "cameras", "--values", valuesFile(values), ...kube, ...more];
  const key = args.join("\n");
  const text = rendered.get(key) ?? helm("template", ...args);
  rendered.set(key, text);
  return text;
}

export async function render(values: string, ...set: string[]): Promise<Manifest[]> {
  return manifestsIn(await template(values, ...set));
}

export function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

export function lint(values: string): Promise<string> {
  return helm("lint", "--strict", chart, "--values", valuesFile(values), ...kube);
}

/** The kinds of the manifests. Throws what does not fit the types of Kubernetes and of the Prometheus operator. */
export async function decodeStrictly(manifests: string): Promise<string[]> {
  const decoding = promisify(execFile)("strict", [], { env });
  decoding.child.stdin?.end(manifests);
  return (await decoding).stdout.trim().split("\n");
}

/** The one manifest of a kind and name. */
export function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.filter((one) => one.kind === kind && one.metadata.name === name);
  const [only] = found;
  if (found.length !== 1 || !only) throw new Error(`${found.length} of ${kind} ${name}`);
  return only;
}

/** What stands at a path of keys and positions. */
export function at(manifest: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((here, step) => (here as Record<string, unknown> | undefined)?.[step], manifest);
}
