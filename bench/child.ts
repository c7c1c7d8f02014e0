/** A process that is measured, and the questions its parent asks it over IPC. */
import { fork } from "node:child_process";
import { compiled, memorySettings } from "./compile.ts";

interface Asked {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

type Answered = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: string };

export interface Child {
  readonly pid: number;
  /** The child's answer; rejects with its error, or when it exits before. */
  ask<T>(name: string, input?: unknown): Promise<T>;
  /** Ends it and waits for its exit. */
  end(): Promise<void>;
}

/** Starts a file of this folder as a process of its own. */
export function startChild(file: string): Child {
  const child = fork(compiled(`bench/${file}`), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...memorySettings },
  });
  const open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  void ended.then(() => {
    for (const { reject } of open.values()) reject(new Error(`${file} ended before it answered`));
  });
  child.on("message", (answer: Answered) => {
    const question = open.get(answer.id);
    open.delete(answer.id);
    if ("error" in answer) question?.reject(new Error(answer.error));
    else question?.resolve(answer.value);
  });
  let asked = 0;
  return {
    pid: child.pid ?? 0,
    ask: <T>(name: string, input?: unknown) =>
      new Promise<T>((resolve, reject) => {
        const id = ++asked;
        open.set(id, { resolve: (value) => resolve(value as T), reject });
        child.send({ id, name, input } satisfies Asked);
      }),
    async end() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** In the child: answers each request with the result of the function of that name. */
export function answerParent(answers: Readonly<Record<string, (input: never) => unknown>>): void {
  process.on("message", async ({ id, name, input }: Asked) => {
    try {
      const answer = answers[name];
      if (!answer) throw new Error(`no answer to ${name}`);
      process.send?.({ id, value: await answer(input as never) } satisfies Answered);
    } catch (thrown) {
      process.send?.({
        id,
        error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
      } satisfies Answered);
    }
  });
}
