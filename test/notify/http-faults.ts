/** What channels over HTTP make of what goes wrong there, alike for all of them. */
import type { HttpReply, HttpSink } from "../support/http-sink.ts";
import type { Fault, Rig } from "./contract.ts";

export interface HttpRig extends Rig {
  readonly sink: HttpSink;
}

export const CANARY = "c4n4ryc4n4ryc4n4ry";

function answering(
  answer: HttpReply,
  code: Fault<HttpRig>["code"],
  scope: Fault<HttpRig>["scope"] = "endpoint",
): Fault<HttpRig> {
  return {
    when: `the endpoint answers ${answer.status}`,
    arrange: ({ sink }) => sink.respond(answer),
    code,
    scope,
    retryable: scope === "endpoint",
  };
}

export const httpFaults: readonly Fault<HttpRig>[] = [
  answering({ status: 400, body: CANARY }, "bad_request", "message"),
  answering({ status: 413, body: `<html>${CANARY}</html>` }, "bad_request", "message"),
  answering({ status: 422 }, "bad_request", "message"),
  answering({ status: 401, body: CANARY }, "auth"),
  answering({ status: 403 }, "auth"),
  answering({ status: 404 }, "not_found"),
  answering({ status: 410 }, "not_found"),
  answering({ status: 408 }, "timeout"),
  answering({ status: 429, headers: { "retry-after": "7" } }, "rate_limited"),
  answering({ status: 500, body: CANARY }, "server_error"),
  answering({ status: 503 }, "server_error"),
  answering({ status: 302, headers: { location: `https://elsewhere.example/${CANARY}` } }, "other"),
];
