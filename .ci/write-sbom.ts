/** Prints what an installation holds as CycloneDX JSON: the packages of the lock file without what is for development. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: true;
  readonly devOptional?: true;
  readonly optional?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const root = resolve(import.meta.dirname, "..");
const { packages } = JSON.parse(readFileSync(resolve(root, "package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, Locked>>;
};
const installed = Object.entries(packages).filter(([path, { dev }]) => path !== "" && !dev);

const nameOf = (path: string, { name }: Locked) => name ?? path.replace(/^.*node_modules\//, "");
const refOf = (path: string, locked: Locked) => `${nameOf(path, locked)}@${locked.version}`;
const purlOf = (ref: string) => `pkg:npm/${ref.replace(/^@/, "%40")}`;

/** The package that Node finds by that name in the one at the path: below it, else beside it, and so on upwards. */
function refFrom(path: string, name: string): string[] {
  const below = path === "" ? `node_modules/${name}` : `${path}/node_modules/${name}`;
  const found = packages[below];
  if (found && !found.dev) return [refOf(below, found)];
  return path === "" ? [] : refFrom(path.slice(0, Math.max(0, path.lastIndexOf("/node_modules/"))), name);
}

function licensesOf(license: string | undefined): object[] {
  if (license === undefined) return [];
  return [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }];
}

function component(path: string, locked: Locked): object {
  const ref = refOf(path, locked);
  const [, hash = ""] = /^sha512-(.+)$/.exec(locked.integrity ?? "") ?? [];
  return {
    "bom-ref": ref,
    type: "library",
    name: nameOf(path, locked),
    version: locked.version,
    scope: locked.optional || locked.devOptional ? "optional" : "required",
    purl: purlOf(ref),
    hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }],
    licenses: licensesOf(locked.license),
  };
}

function dependenciesOf(path: string, locked: Locked): [string, object] {
  const names = Object.keys({ ...locked.dependencies, ...locked.optionalDependencies, ...locked.peerDependencies });
  const dependsOn = [...new Set(names.flatMap((name) => refFrom(path, name)))].sort();
  return [refOf(path, locked), { ref: refOf(path, locked), dependsOn }];
}

const product = packages[""];
if (!product) throw new Error("package-lock.json names no product");
const self = refOf("", product);
const sbom = {
  $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  serialNumber: `urn:uuid:${randomUUID()}`,
  version: 1,
  metadata: {
    timestamp: new Date().toISOString(),
    lifecycles: [{ phase: "pre-build" }],
    component: {
      "bom-ref": self,
      type: "application",
      name: nameOf("", product),
      version: product.version,
      purl: purlOf(self),
      licenses: licensesOf(product.license),
    },
  },
  // One package may be installed in several places.
  components: [...new Map(installed.map(([path, locked]) => [refOf(path, locked), component(path, locked)])).values()],
  dependencies: [...new Map([dependenciesOf("", product), ...installed.map((one) => dependenciesOf(...one))]).values()],
};
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
