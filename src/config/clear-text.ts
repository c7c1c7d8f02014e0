/** Warnings: credentials that would cross a network in clear text. No text in them contains a URL. */
import type { Config } from "./config.ts";
import type { Environment } from "./document.ts";
import { type Finding, type Path, warning } from "./problem.ts";

/** One finding per URL or server of another host that is sent credentials without TLS. */
export function clearText({ service, receivers, heartbeat, redis, smtp }: Config, env: Environment): Finding[] {
  const urls = { base_url: service.baseUrl, ws_url: service.wsUrl, auth_url: service.authUrl };
  const slackApp = receivers.flatMap(({ slack }) => slack).find(({ app }) => app)?.app;
  return [
    ...Object.entries(urls).flatMap(([key, url]) => checkUrl(["service", key], url)),
    ...receivers.flatMap(toReceiver),
    ...(slackApp ? checkUrl(["slack_api_url"], slackApp.apiBase) : []),
    ...(heartbeat ? checkUrl(["heartbeat", "url"], heartbeat.url) : []),
    ...toRedis(redis),
    ...toMailServer(smtp),
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

function toReceiver(receiver: Config["receivers"][number], index: number): Finding[] {
  const { slack, webhook, pagerduty, msteamsv2, alertmanager } = receiver;
  const check = (type: string, key: string, urls: readonly (string | undefined)[]) =>
    urls.flatMap((url, i) => (url ? checkUrl(["receivers", index, `${type}_configs`, i, key], url) : []));
  const urlsOf = (entries: readonly { readonly url: string }[]) => entries.map(({ url }) => url);
  return [
    ...check(
      "slack",
      "api_url",
      slack.map(({ apiUrl }) => apiUrl),
    ),
    ...check("webhook", "url", urlsOf(webhook)),
    ...check("pagerduty", "url", urlsOf(pagerduty)),
    ...check(
      "msteamsv2",
      "webhook_url",
      msteamsv2.map(({ webhookUrl }) => webhookUrl),
    ),
    // Without a login an Alertmanager is sent no credentials.
    ...check(
      "alertmanager",
      "url",
      alertmanager.map(({ url, http }) => (http.authorization || http.basicAuth ? url : undefined)),
    ),
  ];
}

/** With or without a password: what Redis stores is believed. */
function toRedis({ url, sentinels, cluster, tls }: Config["redis"]): Finding[] {
  if (url !== undefined) return checkUrl(["redis", "url"], url);
  if (tls !== undefined || [...(sentinels ?? []), ...(cluster ?? [])].every(({ host }) => isNear(host))) return [];
  return [warning(["redis"], "servers without tls", "`tls: {}` so that credentials are encrypted in transit")];
}

const IMPLICIT_TLS_PORT = 465;

function toMailServer(smtp: Config["smtp"]): Finding[] {
  if (!smtp || smtp.username === undefined || smtp.requireTls || smtp.port === IMPLICIT_TLS_PORT) return [];
  if (isNear(smtp.host)) return [];
  return [warning(["smtp", "require_tls"], "false", "true so that the login is encrypted in transit")];
}

function toProxy(name: string, text: string): Finding[] {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" || !(url.username || url.password) || isNear(url.hostname)) return [];
  return [warning([], `a login in the http:// URL of ${name}`, "https:// so that it is encrypted in transit")];
}
