/** The parts of the process that commands use; an argument, so that commands can run inside a test. */

/** 0 success; 1 the answer is bad news; 2 wrong usage; 3 something needed is unreachable. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface CommandIo {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  setExitCode(code: ExitCode): void;
  /** Calls `act` at each SIGHUP. */
  onHangup?(act: () => void): void;
  /** Calls `act` when the process exits, also when forced to; `act` must be synchronous. */
  atExit?(act: () => void): void;
}
