/** The whole configuration, key by key: the one place that says what there is, what it is for and its default. */
import { z } from "zod";
import { logLevels } from "../lib/log.ts";
import { addresses } from "./channel-schema.ts";
import { defaultInhibitRules, inhibitRuleSection } from "./inhibit-schema.ts";
import { listOf, optional, type Parsed, required, section, withDefault } from "./key.ts";
import { receiverSection } from "./receiver-schema.ts";
import { redisSection } from "./redis-schema.ts";
import { matchers, routeSection } from "./route-schema.ts";
import { defaultRules, ruleSection } from "./rule-schema.ts";
import {
  cron,
  duration,
  email,
  flag,
  host,
  id,
  integer,
  line,
  listen,
  name,
  oneOf,
  ratio,
  token,
  url,
  zone,
} from "./scalars.ts";
import { timeIntervalSection } from "./time-interval-schema.ts";
import { checkTls, tlsKeys } from "./tls-schema.ts";

const webUrl = url("an http:// or https:// URL without login, query or fragment", {
  schemes: ["http", "https"],
  base: true,
});

const serviceTls = section(tlsKeys("the service"), checkTls);

const serviceKeys = {
  base_url: required("The Core API's address.", webUrl),
  ws_url: required(
    "The Metrics WebSocket's address.",
    url("a ws:// or wss:// URL without login, query or fragment", { schemes: ["ws", "wss"], base: true }),
  ),
  auth_url: required("The token issuer's address.", webUrl),
  client_id: required("The client id the account manager gave.", line),
  client_secret: required("The client secret that belongs to it.", line, { secret: true }),
  audience: required("The API audience the token is for.", line),
  request_timeout: withDefault("How long a request may take.", duration("100ms", "5m"), "20s"),
  uptime_index_timezone: withDefault(
    "The time zone the service's uptime buckets are read in: the recording's own, or UTC.",
    oneOf("recording", "utc"),
    "recording",
  ),
  tls: optional("TLS to all three, with certificates of one's own.", serviceTls.schema, {
    section: () => serviceTls,
  }),
};

const service = section(serviceKeys, (value: Parsed<typeof serviceKeys>, context) => {
  const { tls, base_url, ws_url, auth_url } = value;
  if (!tls || [base_url, ws_url, auth_url].some((text) => /^(?:https|wss):/i.test(text))) return;
  context.addIssue({ code: "custom", path: ["tls"], message: "an https:// or wss:// URL beside it" });
});

const ids = z.preprocess(
  (value) => (typeof value === "string" ? [value] : value),
  z.array(id, { error: "a list of ids" }),
);

const allOrIds = z.preprocess(
  (value) => (value === "all" ? ["all"] : value),
  z
    .array(id, { error: "all, or a list of location ids" })
    .min(1, { error: "all, or at least one location id" })
    .transform((list) => (list.length === 1 && list[0] === "all" ? ("all" as const) : list)),
);

const watch = section({
  locations: withDefault("Which locations are watched: all, or a list of ids.", allOrIds, "all"),
  exclude: withDefault("Recording or location ids never watched.", ids, []),
  forget_after: withDefault(
    "What is absent this long from every complete answer has left the fleet.",
    duration("1s", "365d"),
    "24h",
  ),
  status_interval: withDefault("How often every recording's status is read.", duration("1s", "1h"), "30s"),
  uptime_interval: withDefault("How often today's uptime is read.", duration("1s", "1d"), "10m"),
  inventory_interval: withDefault("How often locations are listed anew.", duration("1s", "7d"), "1h"),
  locations_per_request: withDefault("Locations asked for in one request.", integer(1, 1000), "50"),
  history: withDefault(
    "How long what was decided about a recording is kept, for `lenswatch why`.",
    duration("1h", "2y"),
    "90d",
  ),
});

const smtpTls = section(tlsKeys("the mail server"), checkTls);

const smtp = section(
  {
    host: required("The mail server's name or address.", host),
    port: withDefault("Its port; 465 speaks TLS from the first byte.", integer(1, 65_535), "587"),
    from: required("The sender's address.", email),
    username: optional("The login, where the server wants one.", line),
    password: optional("The password that belongs to it.", line, { secret: true }),
    require_tls: withDefault("Refuse to send without TLS.", flag, "true"),
    tls: optional("TLS with certificates of one's own.", smtpTls.schema, { section: () => smtpTls }),
  },
  ({ username, password }, context) => {
    if ((username === undefined) === (password === undefined)) return;
    const [missing, given] = username === undefined ? ["username", "password"] : ["password", "username"];
    context.addIssue({ code: "custom", path: [missing], message: `a ${missing} beside the ${given}` });
  },
);

/** Mail programs call it by themselves, so it is https (RFC 8058, section 3.1). */
const oneClick = "an https:// URL without login or fragment; {recipient} stands for the address";
const unsubscribeUrl = url(oneClick, { schemes: ["https"], query: true }).refine(
  (text) =>
    !/[<>"]/.test(text) && new URL(text.replaceAll("{recipient}", "x")).origin === new URL(text).origin,
  { error: oneClick },
);

const digest = section({
  name: required("What `digest send` calls it.", name),
  cron: withDefault("When it is sent.", cron, "0 8 * * *"),
  timezone: withDefault("The time zone `cron` and the digest's days are in.", zone, "UTC"),
  period: withDefault("The time it covers: a day, a week or a month.", oneOf("1d", "1w", "1mo"), "1d"),
  matchers: withDefault("Which recordings it covers, by their labels; without any, all.", matchers, []),
  to: required("Who gets it.", addresses),
  untrusted_below: withDefault(
    "With less uptime than this on a day, a location's visitor counts of that day are not to be trusted.",
    ratio,
    "90%",
  ),
  unsubscribe_url: optional(
    "What ends it for a reader with one click; {recipient} stands for the address.",
    unsubscribeUrl,
  ),
});

export const httpSection = section({
  listen: withDefault("Where it is served.", listen, "127.0.0.1:9595"),
  external_url: optional("Where people reach it: the base of links in messages.", webUrl),
  admin_token: optional("What changing state takes; absent, it is refused.", token, { secret: true }),
  read_token: optional("What reading takes; absent, reading is open.", token, { secret: true }),
});

const heartbeat = section({
  url: required(
    "What is called with GET: a check of a service that tells somebody when the calls stop.",
    url("an http:// or https:// URL without a fragment", {
      schemes: ["http", "https"],
      login: false,
      query: true,
    }),
    { secret: true },
  ),
  interval: withDefault("How often it is called.", duration("1s", "1d"), "1m"),
});

const log = section({ level: withDefault("The least level that is written.", oneOf(...logLevels), "info") });

const root = section({
  service: required("The analytics service.", service.schema, { section: () => service }),
  redis: withDefault("Where state is kept.", redisSection.schema, {}, { section: () => redisSection }),
  watch: withDefault("What is watched, and how often.", watch.schema, {}, { section: () => watch }),
  rules: withDefault(
    "What is worth telling, as Prometheus alerting rules.",
    listOf(ruleSection.schema),
    defaultRules,
    {
      section: () => ruleSection,
      list: true,
    },
  ),
  route: optional(
    "Who is told, as Alertmanager's routing tree; with one receiver, that one by default.",
    routeSection.schema,
    {
      section: () => routeSection,
    },
  ),
  receivers: required(
    "The ways of telling, by name.",
    z
      .array(receiverSection.schema, { error: "a list of receivers" })
      .min(1, { error: "at least one receiver" }),
    { section: () => receiverSection, list: true },
  ),
  inhibit_rules: withDefault(
    "What need not be told while something else explains it, as Alertmanager's.",
    listOf(inhibitRuleSection.schema),
    defaultInhibitRules,
    { section: () => inhibitRuleSection, list: true },
  ),
  time_intervals: withDefault(
    "Times of the day and the year, by name, for routes to keep to.",
    listOf(timeIntervalSection.schema),
    [],
    { section: () => timeIntervalSection, list: true },
  ),
  smtp: optional("The mail server; e-mail and digests need it.", smtp.schema, { section: () => smtp }),
  digests: withDefault("Summaries by e-mail.", listOf(digest.schema), [], {
    section: () => digest,
    list: true,
  }),
  http: withDefault(
    "The status page, the API and the metrics.",
    httpSection.schema,
    {},
    { section: () => httpSection },
  ),
  heartbeat: optional(
    "A dead man's switch, called only after a sweep, Redis and the queue of messages all worked.",
    heartbeat.schema,
    { section: () => heartbeat },
  ),
  log: withDefault("The log on stdout.", log.schema, {}, { section: () => log }),
});

export const configSection: typeof root = root;
export type ConfigInput = z.output<typeof root.schema>;
