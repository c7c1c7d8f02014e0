/** Writes files together: all of them, complete, or none. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { dirname } from "node:path";

interface NewFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** Throws where the directory, or the nearest one above it that exists, cannot be written to. */
export function assertWritable(directory: string): void {
  if (fs.existsSync(directory)) fs.accessSync(directory, fs.constants.W_OK);
  else assertWritable(dirname(directory));
}

/** Makes the directory, for its owner alone, and narrows one that others can read: then it returns true. */
export function makePrivate(directory: string): boolean {
  fs.mkdirSync(dirname(directory), { recursive: true });
  if (!fs.existsSync(directory)) fs.mkdirSync(directory, { mode: 0o700 });
  const isWider = (fs.statSync(directory).mode & 0o077) !== 0;
  if (isWider) fs.chmodSync(directory, 0o700);
  return isWider;
}

/**
 * Synchronous, so that no signal comes in between; the last file is put in place when the others are. Existing files are
 * replaced.
 */
export function writeTogether(files: readonly NewFile[]): void {
  const suffix = `.${randomBytes(4).toString("hex")}.new`;
  try {
    for (const { path, text, mode } of files) fs.writeFileSync(path + suffix, text, { mode, flag: "wx", flush: true });
    for (const { path } of files) fs.renameSync(path + suffix, path);
  } finally {
    for (const { path } of files) fs.rmSync(path + suffix, { force: true });
  }
}
