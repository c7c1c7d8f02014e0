/** CPU and memory of this process and of others (Linux' /proc), and statistics of a series. */
import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import type { Redis } from "ioredis";

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

export interface Cost {
  readonly wallMs: number;
  /** User and system time of this process, all its threads. */
  readonly cpuMs: number;
}

/** CPU and wall time of `work` in this process. */
export async function costOf(work: () => unknown): Promise<Cost> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  await work();
  const wallMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000 };
}

/** CPU seconds a process has used so far. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory of a process now, and the most since `resetPeak`; MB of 10^6 bytes. */
export function memory(pid: number): { readonly nowMb: number; readonly peakMb: number } {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const mb = (field: string) => (Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1]) * 1024) / 1e6;
  return { nowMb: mb("VmRSS"), peakMb: mb("VmHWM") };
}

/** What a Redis holds, in MB of 10^6 bytes. */
export async function usedMb(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1]) / 1e6;
}

/** The peak of a process's memory counts from now on (proc(5): clear_refs). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** Load of the last minute: how many processes wanted a core. */
export function load(): number {
  return loadavg()[0] ?? 0;
}

export interface Series {
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

/** NaN where there is nothing. */
export function series(values: readonly number[]): Series {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { median: at(0.5) ?? Number.NaN, p99: at(0.99) ?? Number.NaN, worst: sorted.at(-1) ?? Number.NaN };
}
