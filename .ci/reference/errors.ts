/** What each error code means, and what to do; the compiler requires an entry for every code. */
import type { NotifyErrorCode } from "../../src/alerting/model.ts";
import type { daemonErrorCodes } from "../../src/commands/cli/daemon.ts";
import type { ConfigErrorCode } from "../../src/config/problem.ts";
import type { DigestErrorCode } from "../../src/digest/period.ts";
import type { httpErrorCodes } from "../../src/http/errors.ts";
import type { queryErrorCodes } from "../../src/query/ask.ts";
import type { ServiceErrorCode } from "../../src/service/service.ts";
import type { SimulatorErrorCode } from "../../src/simulator/errors.ts";
import type { storeErrorCodes } from "../../src/store/errors.ts";

interface ErrorClass<Code extends string = string> {
  readonly about: string;
  readonly codes: Readonly<Record<Code, readonly [meaning: string, action: string]>>;
}

const ServiceError: ErrorClass<ServiceErrorCode> = {
  about: "Between lenswatch and the analytics service.",
  codes: {
    timeout: [
      "no answer within `service.request_timeout`: slow or cut off, never the credentials",
      "Nothing at first, requests are retried. If it lasts, report it to the service's operator.",
    ],
    auth: [
      "the credentials or the token were refused",
      "Check `client_id`, `client_secret` and `audience` with the account manager.",
    ],
    rate_limited: [
      "the service asks for fewer requests",
      "Nothing, `Retry-After` is honoured. If it is frequent, raise `watch.status_interval`.",
    ],
    bad_payload: [
      "an answer that cannot be parsed",
      "Check `lenswatch_protocol_errors_total`; report it to the support of the service.",
    ],
    unavailable: [
      "not reachable, or failing (5xx, a closed socket)",
      "Nothing at first. If it lasts, check the three URLs and the proxy.",
    ],
    bad_request: ["refused permanently", "Check `base_url` and `ws_url`; the message names the request."],
    closed: ["cancelled because lenswatch stops", "Nothing."],
  },
};

const NotifyError: ErrorClass<NotifyErrorCode> = {
  about:
    "Between lenswatch and a receiver; also `reason` of `lenswatch_notifications_failed_total`. The message is stored and retried. After a correction: `lenswatch notify-test RECEIVER`.",
  codes: {
    network: ["not reachable, or TLS failed", "Check host, port, DNS, proxy, certificate and `tls`."],
    timeout: ["no answer within 10 s", "Check the receiver."],
    rate_limited: ["too many messages (429)", "Nothing. If it is frequent, group more."],
    server_error: ["the receiver fails (5xx, or mail refused for now)", "Nothing at first."],
    auth: ["the webhook, the login or the sender was refused", "Create a new webhook; check the login."],
    not_found: [
      "the webhook or its channel does not exist",
      "Create a new webhook and set `api_url`, or correct `url`.",
    ],
    bad_request: [
      "this message was refused, also as plain text",
      "Check `detail` in the log; other messages are sent.",
    ],
    recipient_refused: ["the mail server refused this address", "Correct it in `email_configs` or `digests`."],
    conversation_gone: ["the message that was to be answered or edited is gone", "Nothing: a new one is posted."],
    other: [
      "the answer comes from something that is not such a receiver",
      "Check `api_url`, `url`, `smtp.host` and the proxy.",
    ],
  },
};

const StoreError: ErrorClass<(typeof storeErrorCodes)[number]> = {
  about: "Between lenswatch and Redis.",
  codes: {
    no_server: ["no `redis.url`, and no `redis-server` found", "Install Redis, or set `redis.url`."],
    unavailable: [
      "Redis cannot be reached now",
      "Nothing at first, it reconnects. Check `redis.url` and the log of Redis.",
    ],
    unreadable: ["stored data in another format, or damaged", "See [Upgrading](../operations.md#upgrading)."],
  },
};

const ConfigError: ErrorClass<ConfigErrorCode> = {
  about: "The configuration.",
  codes: {
    not_found: ["the file does not exist", "Give another with `--config` or `LENSWATCH_CONFIG`."],
    unreadable: ["the file is not readable", "Check its permissions."],
    invalid: ["the file has problems, each with file:line:column", "Correct them; `check-config` lists them again."],
  },
};

const HttpError: ErrorClass<(typeof httpErrorCodes)[number]> = {
  about: "Answers of the pages and APIs.",
  codes: {
    bad_query: ["400: an invalid parameter; the message names it", "Correct the request."],
    bad_body: ["400: an invalid body or silence; the message says why", "Correct the request."],
    unauthorized: ["401: a token is needed", "Send `Authorization: Bearer …`, or sign in on the page."],
    forbidden: [
      "403: no token has the scope, or the form belongs to another session",
      "Configure one; load the page again and repeat.",
    ],
    missing_scope: ["403: the token lacks the scope that `WWW-Authenticate` names", "Use a token that has it."],
    not_found: ["404: nothing has this id", "Follow a link from `/`, or search there."],
    misdirected: ["421: the `Host` is not known to be this server's", "Set `http.external_url`, or send a token."],
    too_many_failures: ["429: ten wrong tokens from one address within a minute", "Wait for `Retry-After`."],
    busy: [
      "503: too many requests or reports at once, or a report takes longer",
      "Try again later; scrape less often.",
    ],
    unavailable: ["503: Redis did not answer in time", "Try again; `/readyz` has the reason."],
    too_large: ["413: the body is too large", "Send less per request."],
    bad_config: [
      "500: the reload failed; the previous configuration stays active",
      "Correct the problems the answer lists.",
    ],
    listen: ["cannot listen at `http.listen` or `http.metrics_listen`; `run` exits", "Use a free port above 1023."],
  },
};

const DaemonError: ErrorClass<(typeof daemonErrorCodes)[number]> = {
  about: "Between a command and a running daemon.",
  codes: {
    no_url: ["neither `--url` nor a configuration names its address", "Give `--url`."],
    unreachable: ["no answer at that address", "Check that it runs, and its log."],
    unauthorized: ["a token is needed", "Set `LENSWATCH_READ_TOKEN`, for changes `LENSWATCH_ADMIN_TOKEN`."],
    not_found: ["nothing has that name", "Check `lenswatch status`."],
    refused: ["the daemon answered with an error, which is shown", "Follow the message."],
    rejected: ["the change or query is not possible; exit code 1", "Follow the message."],
    unexpected: ["the answer is not from this version of lenswatch", "Check `--url` and both versions."],
    bad_option: ["the author, or which alert is meant, is not clear; exit code 2", "Follow the message."],
  },
};

const DigestError: ErrorClass<DigestErrorCode> = {
  about: "Digests.",
  codes: {
    invalid_cron: ["the `cron` of a digest is invalid", "Five fields, as in `0 8 * * *`."],
    invalid_timezone: ["its `timezone` does not exist", "An IANA name, as in `Europe/London`."],
  },
};

const QueryError: ErrorClass<(typeof queryErrorCodes)[number]> = {
  about: "Of `lenswatch query`, before anything is printed.",
  codes: {
    bad_option: ["an option is wrong, or not one of this query", "The message names it."],
    unknown_name: [
      "no location, recording or zone has that name, or several",
      "The message names those that are near.",
    ],
    too_much: ["the answer would have too many rows", "Ask for less, as the message says."],
  },
};

const SimulatorError: ErrorClass<SimulatorErrorCode> = {
  about: "Of `lenswatch simulate` and its control interface.",
  codes: {
    bad_option: ["an option is out of range", "The message names it."],
    bad_scenario: ["the scenario has problems, each listed with its place", "Correct them."],
    bad_fault: ["the fault does not exist, or not with these parameters", "The message lists the faults."],
    bad_change: ["an invalid change of the world", "The message lists the fields."],
    not_found: ["no location or recording has that name", "The message names similar ones."],
    cannot_read: ["the file of the scenario cannot be read", "Check the path."],
    cannot_listen: ["the port is in use", "Use another `--port`."],
  },
};

export const errors: Readonly<Record<string, ErrorClass>> = {
  ServiceError,
  NotifyError,
  StoreError,
  ConfigError,
  HttpError,
  DaemonError,
  DigestError,
  QueryError,
  SimulatorError,
};
