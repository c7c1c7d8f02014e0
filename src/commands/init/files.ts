/** Writes files together: all of them, complete, or none. */
import { randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

interface NewFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** Throws where the directory, or the nearest one above it that exists, cannot be written to. */
export function assertWritable(directory: string): void {
  if (existsSync(directory)) accessSync(directory, constants.W_OK);
  else assertWritable(dirname(directory));
}

/** Makes the directory, for its owner alone, and narrows one that others can read: then it returns true. */
export function makePrivate(directory: string): boolean {
  mkdirSync(dirname(directory), { recursive: true });
  if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
  const isWider = (statSync(directory).mode & 0o077) !== 0;
  if (isWider) chmodSync(directory, 0o700);
  return isWider;
}

/**
 * Synchronous, so that no signal comes in between; the last file is put in place when the others are. Existing files are
 * replaced.
 */
export function writeTogether(files: readonly NewFile[]): void {
  const suffix = `.${randomBytes(4).toString("hex")}.new`;
  try {
    for (const { path, text, mode } of files) writeFileSync(path + suffix, text, { mode, flag: "wx", flush: true });
    for (const { path } of files) renameSync(path + suffix, path);
  } finally {
    for (const { path } of files) rmSync(path + suffix, { force: true });
  }
}
