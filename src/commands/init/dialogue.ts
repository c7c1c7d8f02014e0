/** Questions on a terminal. Ctrl-C at any of them throws an AbortError. */
import type { Readable, Writable } from "node:stream";
import { confirm, isCancel, password, select, text } from "@clack/prompts";
import type { CommandIo } from "../cli/command.ts";
import { expectedInstead, type Field } from "./fields.ts";

/** Undefined without a terminal. */
export type Dialogue = NonNullable<ReturnType<typeof createDialogue>>;

export function createDialogue({ stdin, stdout, signal }: CommandIo) {
  if (!isTerminal(stdin) || !isTerminal(stdout)) return undefined;
  const shared = { input: stdin as Readable, output: stdout as Writable, signal, withGuide: false };
  return {
    /** `known` is the earlier answer: of a secret, Enter keeps it. */
    async ask(field: Field, known = ""): Promise<string> {
      const { key, isOptional, initial } = field;
      const kept = key.secret && known !== "" ? "; Enter keeps the one given" : isOptional ? "; Enter for none" : "";
      const message = `${key.doc.slice(0, -1)}${kept}`;
      const validate = (value = "") => {
        const expected = expectedInstead(field, value || (key.secret ? known : ""));
        return expected && `It must be ${expected}.`;
      };
      const answer = key.secret
        ? await password({ ...shared, message, validate })
        : await text({ ...shared, message, validate, initialValue: known || (initial ?? "") });
      return unlessCancelled(answer) || (key.secret ? known : "");
    },
    async choose<T extends string>(message: string, labels: Readonly<Record<T, string>>): Promise<T> {
      const options = Object.entries<string>(labels).map(([value, label]) => ({ value, label }));
      return unlessCancelled(await select<string>({ ...shared, message, options })) as T;
    },
    async confirm(message: string): Promise<boolean> {
      return unlessCancelled(await confirm({ ...shared, message }));
    },
  };
}

function isTerminal(stream: unknown): boolean {
  return (stream as Partial<NodeJS.ReadStream> | undefined)?.isTTY === true;
}

function unlessCancelled<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new DOMException("cancelled", "AbortError");
  return answer as Exclude<T, symbol>;
}
