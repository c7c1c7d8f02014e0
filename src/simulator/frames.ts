/** Reply frames, `<request_id>|<n>|<m>|<json>`, and the faults in them. */
import type { FaultParams, Faults, SocketRoute } from "./faults.ts";

type Frame = string | Buffer;

/** The frames of one reply, in the order in which they are sent. */
export function framesOf(id: string, payload: unknown, route: SocketRoute, faults: Faults): readonly Frame[] {
  const garbage = faults.take("garbage_frames", route);
  if (garbage) return [garbageFrame(id, garbage.kind)];
  const parts = faults.take("multi_part", route);
  const frames = parts ? partsOf(id, payload, parts) : [frame(id, 0, 0, JSON.stringify(payload))];
  const copies = faults.take("duplicate_frames", route)?.copies ?? 1;
  return frames.flatMap((one) => Array<Frame>(copies).fill(one));
}

/** The single frame of a request that failed. */
export function errorFrame(id: string, code: string, message: string): string {
  return frame(id, 0, 0, JSON.stringify({ error: { code, message } }));
}

function frame(id: string, n: number, m: number, json: string): string {
  return `${id}|${n}|${m}|${json}`;
}

function partsOf(id: string, payload: unknown, params: FaultParams<"multi_part">): string[] {
  const pieces =
    params.split === "arrays" && Array.isArray(payload)
      ? split(payload.length, params.parts, (from, to) => JSON.stringify(payload.slice(from, to)))
      : fragments(JSON.stringify(payload), params.parts);
  const frames = pieces.map((piece, i) => frame(id, i + params.base, pieces.length, piece));
  const sent = params.lose_last ? frames.slice(0, -1) : frames;
  return params.reversed ? sent.reverse() : sent;
}

function fragments(text: string, parts: number): string[] {
  return split(text.length, parts, (from, to) => text.slice(from, to));
}

function split(length: number, parts: number, piece: (from: number, to: number) => string): string[] {
  const size = Math.ceil(length / parts);
  return Array.from({ length: parts }, (_, i) => piece(i * size, (i + 1) * size));
}

function garbageFrame(id: string, kind: FaultParams<"garbage_frames">["kind"]): Frame {
  switch (kind) {
    case "no_pipes":
      return "hello, this is no reply frame";
    case "bad_json":
      return frame(id, 0, 0, '[{"recording_id":"5');
    case "binary":
      return Buffer.from([0xff, 0x00, 0xfe, 0x7c, 0x30]);
    case "unknown_id":
      return frame("nobody-asked-this", 0, 0, "[]");
    case "bad_numbers":
      return `${id}|one|-1|[]`;
  }
}
