#!/usr/bin/env node
/** The package's command. It loads nothing by itself, so that an old Node can still say which one is needed. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 24 || (major === 24 && minor >= 12)) {
  await import("./main.ts");
} else {
  process.stderr.write(`lenswatch needs Node 24.12 or later, and this is ${process.version}: install a newer Node.\n`);
  process.exitCode = 1;
}
