/** Warnings: credentials that would cross a network in clear text. No text in them contains a URL. */
import type { Environment } from "./document.ts";
import { type Finding, type Path, warning } from "./problem.ts";
import type { ConfigInput } from "./schema.ts";

/** One finding per URL or server of another host that is sent credentials without TLS. */
export function clearText(input: ConfigInput, env: Environment): Finding[] {
  const { service, receivers, heartbeat } = input;
  return [
    ...(["base_url", "ws_url", "auth_url"] as const).flatMap((key) => checkUrl(["service", key], service[key])),
    ...receivers.flatMap(toReceiver),
    ...(receivers.some(hasSlackApp) ? checkUrl(["slack_api_url"], input.slack_api_url) : []),
    ...(heartbeat ? checkUrl(["heartbeat", "url"], heartbeat.url) : []),
    ...toRedis(input.redis),
    ...toMailServer(input.smtp),
    ...["HTTP_PROXY", "HTTPS_PROXY"].flatMap((name) => toProxy(name, env[name.toLowerCase()] ?? env[name] ?? "")),
  ];
}

const THIS_HOST = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1\]?)$/i;
/**
 * Names without a dot and those of Kubernetes services exist only in the network of a compose project or a cluster. A
 * private address is no exception: whatever is attached to that network can read along.
 */
const CONTAINER_NETWORK = /^[^.:]+$|\.svc(?:\.|$)/i;

function isNear(host: string): boolean {
  return THIS_HOST.test(host) || CONTAINER_NETWORK.test(host);
}

const ENCRYPTED: Readonly<Record<string, string>> = { "http:": "https", "ws:": "wss", "redis:": "rediss" };

function checkUrl(path: Path, url: string): Finding[] {
  const { protocol, hostname } = new URL(url);
  const encrypted = ENCRYPTED[protocol];
  if (encrypted === undefined || isNear(hostname)) return [];
  return [warning(path, `${protocol}//`, `${encrypted}:// so that credentials are encrypted in transit`)];
}

function toReceiver({ alertmanager_configs, ...others }: Receiver, index: number): Finding[] {
  const { slack_configs, webhook_configs, pagerduty_configs, msteamsv2_configs } = others;
  const at = (...path: Path) => ["receivers", index, ...path];
  const withLogin = ({ http_config: http }: Receiver["alertmanager_configs"][number]) =>
    http?.authorization !== undefined || http?.basic_auth !== undefined;
  return [
    ...slack_configs.flatMap(({ api_url: url }, i) => (url ? checkUrl(at("slack_configs", i, "api_url"), url) : [])),
    ...webhook_configs.flatMap(({ url }, i) => checkUrl(at("webhook_configs", i, "url"), url)),
    ...pagerduty_configs.flatMap(({ url }, i) => checkUrl(at("pagerduty_configs", i, "url"), url)),
    ...msteamsv2_configs.flatMap((entry, i) => checkUrl(at("msteamsv2_configs", i, "webhook_url"), entry.webhook_url)),
    ...alertmanager_configs.flatMap((entry, i) =>
      withLogin(entry) ? checkUrl(at("alertmanager_configs", i, "url"), entry.url) : [],
    ),
  ];
}

type Receiver = ConfigInput["receivers"][number];

function hasSlackApp({ slack_configs }: Receiver): boolean {
  return slack_configs.some(({ bot_token }) => bot_token !== undefined);
}

/** With or without a password: what Redis stores is believed. */
function toRedis({ url, sentinels, cluster, tls }: ConfigInput["redis"]): Finding[] {
  if (url !== undefined) return checkUrl(["redis", "url"], url);
  if (tls !== undefined || [...(sentinels ?? []), ...(cluster ?? [])].every(({ host }) => isNear(host))) return [];
  return [warning(["redis"], "servers without tls", "`tls: {}` so that credentials are encrypted in transit")];
}

const IMPLICIT_TLS_PORT = 465;

function toMailServer(smtp: ConfigInput["smtp"]): Finding[] {
  if (!smtp || smtp.username === undefined || smtp.require_tls || smtp.port === IMPLICIT_TLS_PORT) return [];
  if (isNear(smtp.host)) return [];
  return [warning(["smtp", "require_tls"], "false", "true so that the login is encrypted in transit")];
}

function toProxy(name: string, text: string): Finding[] {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" || !(url.username || url.password) || isNear(url.hostname)) return [];
  return [warning([], `a login in the http:// URL of ${name}`, "https:// so that it is encrypted in transit")];
}
