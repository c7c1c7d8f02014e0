/** Go's interpreted string literals, which Alertmanager's quoted matcher names and values are. */

const SIMPLE: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
};

const PIECE =
  /\\([abfnrtv\\"])|\\x([0-9a-fA-F]{2})|\\([0-3][0-7]{2})|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|([^\\"\n]+)/y;

/** The text of a literal's inside (without its quotes); undefined where Go would refuse it. */
export function unquoteGo(inside: string): string | undefined {
  const bytes: Buffer[] = [];
  const piece = new RegExp(PIECE);
  while (piece.lastIndex < inside.length) {
    const found = piece.exec(inside);
    const part = found ? pieceBytes(found) : undefined;
    if (!part) return undefined;
    bytes.push(part);
  }
  const all = Buffer.concat(bytes);
  const text = all.toString("utf8");
  return Buffer.from(text).equals(all) ? text : undefined;
}

/** `\xhh` and `\ooo` are bytes, the others code points. */
function pieceBytes(found: RegExpExecArray): Buffer | undefined {
  const [, simple, hex, octal, short, long, plain] = found;
  if (hex !== undefined) return Buffer.from([Number.parseInt(hex, 16)]);
  if (octal !== undefined) return Buffer.from([Number.parseInt(octal, 8)]);
  const digits = short ?? long;
  if (digits === undefined) return Buffer.from(simple === undefined ? (plain ?? "") : (SIMPLE[simple] ?? ""));
  const point = Number.parseInt(digits, 16);
  const isScalar = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
  return isScalar ? Buffer.from(String.fromCodePoint(point)) : undefined;
}

/** A text as a Go string literal, quotes included. */
export function quoteGo(text: string): string {
  const escaped = text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t");
  return `"${escaped}"`;
}
