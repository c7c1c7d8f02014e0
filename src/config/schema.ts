/** The whole configuration: every key with its description and default. */
import { z } from "zod";
import { logLevels } from "../lib/log.ts";
import { emailAddresses, receiverSection } from "./channel-schema.ts";
import { visitCountsSection } from "./counts-schema.ts";
import { directorySection } from "./directory-schema.ts";
import { tlsSection } from "./http-client-schema.ts";
import { httpSection } from "./http-schema.ts";
import { listOf, mapped, optional, type Parsed, refuse, required, section, withDefault } from "./key.ts";
import { redisSection } from "./redis-schema.ts";
import {
  defaultInhibitRules,
  inhibitRuleSection,
  intervalNames,
  matchers,
  routeSection,
  someMatchers,
} from "./route-schema.ts";
import { defaultRules, ruleSection } from "./rule-schema.ts";
import {
  cron,
  duration,
  email,
  host,
  id,
  integer,
  leaf,
  line,
  name,
  oneOf,
  oneOrMore,
  resourceUrl,
  trueOrFalse,
  url,
  webUrl,
  zone,
} from "./scalars.ts";
import { timeIntervalSection } from "./time-interval-schema.ts";

const serviceKeys = {
  base_url: required("The URL of the Core API.", webUrl),
  ws_url: required(
    "The URL of the Metrics WebSocket.",
    url("a ws:// or wss:// URL without login, query or fragment", { schemes: ["ws", "wss"] }),
  ),
  auth_url: required("The URL of the token issuer.", webUrl),
  client_id: required("The client id, from the account manager.", line),
  client_secret: required("The client secret.", line, { secret: true }),
  audience: required("The API audience of the token.", line),
  request_timeout: withDefault("The timeout of a request.", duration("100ms", "5m"), "20s"),
  uptime_index_timezone: withDefault(
    "The time zone of the service's uptime buckets: the recording's own, or UTC.",
    oneOf("recording", "utc"),
    "recording",
  ),
  tls: optional("TLS with your own certificates, for all three URLs.", tlsSection("the service")),
};

const service = section(serviceKeys, (value: Parsed<typeof serviceKeys>, context) => {
  const { tls, base_url, ws_url, auth_url } = value;
  if (!tls || [base_url, ws_url, auth_url].some((text) => /^(?:https|wss):/i.test(text))) return;
  refuse(context, "tls", "an https:// or wss:// URL beside it");
});

const allOrIds = z.preprocess(
  (value) => (value === "all" ? ["all"] : value),
  z
    .array(id, { error: "all, or a list of location ids" })
    .min(1, { error: "all, or at least one location id" })
    .transform((list) => (list.length === 1 && list[0] === "all" ? ("all" as const) : list)),
);

const watch = section({
  locations: withDefault("The locations to watch: all, or a list of ids.", allOrIds, "all"),
  exclude: withDefault("Ids of recordings or locations not to watch.", oneOrMore(id, "a list of ids"), []),
  forget_after: withDefault(
    "How long a recording must be absent from every complete snapshot before it leaves the fleet.",
    duration("1s", "365d"),
    "24h",
  ),
  status_interval: withDefault("How often every recording's status is read.", duration("1s", "1h"), "30s"),
  uptime_interval: withDefault("How often today's uptime is read.", duration("1s", "1d"), "10m"),
  inventory_interval: withDefault("How often the list of locations is read.", duration("1s", "7d"), "1h"),
  locations_per_request: withDefault("The most locations in one request.", integer(1, 1000), "50"),
  history: withDefault("How long the decision log of a recording is kept.", duration("1h", "2y"), "90d"),
});

const smtp = section(
  {
    host: required("The mail server's host name or address.", host),
    port: withDefault("The mail server's port; 465 uses implicit TLS.", integer(1, 65_535), "587"),
    from: required("The sender's address.", email),
    username: optional("The username, where the server requires one.", line),
    password: optional("The password.", line, { secret: true }),
    require_tls: withDefault("Refuse to send without TLS.", trueOrFalse, "true"),
    tls: optional("TLS with your own certificates.", tlsSection("the mail server")),
  },
  ({ username, password }, context) => {
    if ((username === undefined) === (password === undefined)) return;
    const [missing, given] = username === undefined ? ["username", "password"] : ["password", "username"];
    refuse(context, missing, `a ${missing} beside the ${given}`);
  },
);

/** Mail programs post to it (RFC 8058, section 3.1), which requires https. */
const oneClick = "an https:// URL without login or fragment; {recipient} stands for the address";
const unsubscribeUrl = url(oneClick, { schemes: ["https"], query: true }).refine(
  (text) => !/[<>"]/.test(text) && new URL(text.replaceAll("{recipient}", "x")).origin === new URL(text).origin,
  { error: oneClick },
);

const maintenance = section({
  name: required("The name, shown wherever it suppresses.", name),
  matchers: required("The alerts that are suppressed, and the recordings whose downtime is planned.", someMatchers),
  time_intervals: required(
    "Names of `time_intervals`: the windows.",
    intervalNames.refine((all) => all.length > 0, { error: "at least one name" }),
  ),
  comment: optional("Why, for people.", line),
});

const hour = leaf("a time of the day such as 20:00", (text) =>
  /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text) ? { value: text } : {},
);

const digest = mapped(
  section(
    {
      name: required("The digest's name, for `lenswatch digest`.", name),
      cron: optional("When it is sent; by default `0 8 * * *`, and a handover at the end of its shift.", cron),
      timezone: optional(
        "The time zone of `cron` and of the digest's days; by default `display.timezone`, or UTC.",
        zone,
      ),
      period: withDefault(
        "The time it covers: a day, a week, a month, or a shift, whose digest is a handover.",
        oneOf("1d", "1w", "1mo", "shift"),
        "1d",
      ),
      shift: optional(
        "The hours of the shift.",
        section({
          from: required("Its beginning.", hour),
          to: required("Its end, on the next day where that is earlier.", hour),
        }),
      ),
      matchers: withDefault("The recordings it covers, by their labels; without any, all.", matchers, []),
      to: optional("The recipients; required but for a handover to Slack.", emailAddresses),
      slack: optional("The receiver to whose Slack channels a handover is posted.", name),
      unsubscribe_url: optional(
        "The URL for one-click unsubscription; {recipient} stands for the address.",
        unsubscribeUrl,
      ),
    },
    ({ period, shift, matchers, to, slack }, context) => {
      const isShift = period === "shift";
      if (isShift && !shift) refuse(context, "shift", 'its hours, as `{ from: "20:00", to: "08:00" }`');
      if (!isShift && shift) refuse(context, "period", "`shift` beside its hours");
      if (!isShift && slack !== undefined) refuse(context, "slack", "`period: shift`: other digests are mails");
      if (isShift && matchers.length > 0) refuse(context, "matchers", "none: a handover is of the whole fleet");
      if (to === undefined && slack === undefined) refuse(context, "to", "at least one e-mail address");
    },
  ),
  ({ cron, shift, to = [], ...rest }) => {
    const [hour = "08", minute = "00"] = shift?.to.split(":") ?? [];
    return { ...rest, to, shift, cron: cron ?? `${Number(minute)} ${Number(hour)} * * *` };
  },
);

const heartbeat = section({
  url: required(
    "The URL to request with GET: a check of a service that alerts when requests stop.",
    resourceUrl(" without a fragment"),
    { secret: true },
  ),
  interval: withDefault("How often it is requested.", duration("1s", "1d"), "1m"),
});

/** Helm writes `off` as false. */
const perRecording = z.preprocess((written) => (written === "false" ? "off" : written), oneOf("all", "off"));

const metrics = section({
  per_recording: optional(
    "Which recordings have series of their own: all, or none (off); by default all of up to 100,000, of more none.",
    perRecording,
  ),
});

const display = section({
  timezone: optional(
    "The time zone of all times; by default that of the browser or the terminal, and in messages the location's.",
    zone,
  ),
});

const log = section({ level: withDefault("The lowest level to log.", oneOf(...logLevels), "info") });

export const rootSection = section({
  service: required("The analytics service.", service),
  redis: withDefault("The store of all state.", redisSection, {}),
  watch: withDefault("The recordings to watch, and how often.", watch, {}),
  counts: withDefault("Visitor counts: how often they are read, and what they are worth.", visitCountsSection, {}),
  directory: optional("Labels, contacts and names of shops, from files or URLs.", directorySection),
  rules: withDefault("Alerting rules, as in Prometheus.", listOf(ruleSection), defaultRules),
  route: optional(
    "The routing tree, as in Alertmanager; with a single receiver, everything goes to it by default.",
    routeSection,
  ),
  receivers: required(
    "Receivers of notifications, by name.",
    listOf(receiverSection, "a list of receivers", "at least one receiver"),
  ),
  slack_api_url: withDefault("Slack's Web API, for receivers with a `bot_token`.", webUrl, "https://slack.com/api/"),
  inhibit_rules: withDefault(
    "Alerts that suppress notifications of others, as in Alertmanager.",
    listOf(inhibitRuleSection),
    defaultInhibitRules,
  ),
  time_intervals: withDefault("Named times, for routes.", listOf(timeIntervalSection), []),
  maintenance: withDefault(
    "Times in which problems are expected: not notified, and planned downtime.",
    listOf(maintenance),
    [],
  ),
  smtp: optional("The mail server; required for e-mail and digests.", smtp),
  digests: withDefault("Summaries by e-mail.", listOf(digest), []),
  http: withDefault("The status page, the API and the metrics.", httpSection, {}),
  display: withDefault("How people see it.", display, {}),
  metrics: withDefault("What `/metrics` shows.", metrics, {}),
  heartbeat: optional(
    "A dead man's switch, requested only while sweeps, Redis and the notification queue work.",
    heartbeat,
  ),
  log: withDefault("The log on stdout.", log, {}),
});

export type ConfigInput = z.output<typeof rootSection.schema>;
