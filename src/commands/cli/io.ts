/** What a command touches of the process it runs in; handed in, so that commands can run inside a test. */

/** 0 fine; 1 the answer is bad news; 2 wrong usage; 3 could not reach what it needs. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface CommandIo {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  setExitCode(code: ExitCode): void;
  /** Has `act` called at each SIGHUP; without it, nobody can send one. */
  onHangup?(act: () => void): void;
  /** For what must not outlive the process even when its end is forced; synchronous, and only that. */
  atExit?(act: () => void): void;
}
