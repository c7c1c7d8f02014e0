/** Answers of the service bent in every way there is. */
import { bloated, type Dice, misspelt, mutateBytes, mutateJson } from "../support/mutate.ts";

/** The answer's body, bent in one of the ways there are. */
export function bent(value: unknown, dice: Dice, isBloated: boolean): Buffer {
  if (isBloated) return Buffer.from(bloated(value, dice));
  switch (dice.roll(8)) {
    case 0:
      return Buffer.from(misspelt(value, dice));
    case 1:
    case 2:
    case 3:
      return mutateBytes(Buffer.from(JSON.stringify(value)), dice);
    default:
      return Buffer.from(JSON.stringify(mutateJson(value, dice)) ?? "");
  }
}

/** In one frame, or in two; now and then its header is bent as well. */
export function framed(id: string, body: Buffer, dice: Dice): Buffer[] {
  const whole = Buffer.concat([Buffer.from(`${id}|0|0|`), body]);
  switch (dice.roll(6)) {
    case 0:
      return [mutateBytes(whole, dice)];
    case 1: {
      const [at, base] = [dice.roll(body.length + 1), dice.roll(2)];
      const pieces = [body.subarray(0, at), body.subarray(at)];
      return pieces.map((piece, i) => Buffer.concat([Buffer.from(`${id}|${i + base}|2|`), piece]));
    }
    default:
      return [whole];
  }
}
