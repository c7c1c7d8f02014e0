/** Settings that are valid and probably not intended. */
import { describe, expect, test } from "vitest";
import { receivers, service, warningsOf } from "./text.ts";

const smallest = service + receivers;
const rules = "rules: [{ alert: A, when: { missing: true }, labels: { severity: warning, team: x } }]\n";
const routed = (routes: string, more = "") => `${rules}route: { receiver: ops, ${more}routes: [${routes}] }\n`;
const counting = (when: string, more = "") =>
  `${more}rules: [{ alert: A, when: { ${when} }, labels: { severity: info } }]\n`;
const quiet = "  - name: quiet\n    slack_configs: [ { api_url: https://hooks.example.com/y } ]\n";
const ownSource = (name: string) =>
  `inhibit_rules: [{ source_matchers: alertname=${name}, target_matchers: 'alertname=~"R.*"', equal: location_id }]\n`;
const atShop = (matcher: string) => `route: { receiver: ops, routes: [{ matchers: [${matcher}] }] }\n`;
const unknownLabels = `route: { receiver: ops, routes: [{ matchers: [severty="warning"] }] }
${rules}smtp: { host: h, from: a@b }
digests: [{ name: d, to: a@b, matchers: [team="x", location="y"] }]
counts: { closed_days: [{ days: sunday, matchers: [camera_server="x"] }] }
`;
const unknownInhibiting =
  "inhibit_rules: [{ source_matchers: sevrity=a, target_matchers: severity=b, equal: locaton_id }]\n";

const warned = [
  "rules: []\n",
  "rules: [{ alert: A, when: { missing: true } }]\n",
  "watch: { status_interval: 5s }\n",
  "route:\n  receiver: ops\n  repeat_interval: 1m\n",
  unknownLabels,
  rules + unknownInhibiting,
  routed("{ matchers: [team=x] }", "group_by: [locaton_id], "),
  `${quiet}route: { receiver: ops }\n`,
  "  - name: nobody\nroute: { receiver: ops }\n",
  routed("{ matchers: [severity=a] }, { matchers: [severity=a, team=x] }"),
  routed('{ matchers: [team=~"x|y"] }, { matchers: [team=x] }'),
  routed("{ matchers: [team!=y] }, { matchers: [team=x] }"),
  routed("{ group_wait: 1s }, { matchers: [team=x] }"),
  routed('{ matchers: [team=~"x.*"] }, { matchers: [severity=a] }, { matchers: [team=~"x.*", severity=b] }'),
  routed("{ matchers: [team=x], routes: [{ matchers: [severity=a, team=y] }] }"),
  ownSource("LocationOffline"),
  atShop("location_id=1"),
  counting("counts: { sensitivity: 9 }"),
  counting("counts: { sensitivity: 30 }", "counts: { read: false }\n"),
  counting("counts_together: true"),
];

test("what is probably not intended is warned of, with its position and what is expected", async () => {
  const told = warned.map((more) => `${more}  ${warningsOf(smallest + more).join("\n  ")}\n`);
  await expect(told.join("\n")).toMatchFileSnapshot("warnings.txt");
});

test.each([
  routed("{ matchers: [severity=a], continue: true }, { matchers: [severity=a, team=x] }"),
  routed("{ matchers: [severity=a, team=x] }, { matchers: [severity=a] }"),
  routed('{ matchers: [team=~"x|y"] }, { matchers: [team=~"x|z"] }'),
  routed("{ matchers: [team=y] }, { matchers: [team!=z] }"),
  routed('{ matchers: [team=x], routes: [{ matchers: [severity=a] }] }, { matchers: [team=""] }'),
  routed("{ matchers: [job=a] }"),
  `${quiet}${routed("{ matchers: [ severity = critical ], routes: [{ matchers: [ team = x ], receiver: quiet }] }")}`,
  ownSource("CameraServerOffline"),
  "inhibit_rules: []\n",
  `${atShop("location=Leeds")}inhibit_rules: []\n`,
  atShop("organisation=Acme"),
  atShop("location!=Leeds"),
  counting("counts: { sensitivity: 10 }"),
])("nothing is warned of in %s", (more) => {
  expect(warningsOf(smallest + more)).toEqual([]);
});

describe("credentials in clear text", () => {
  const slack = "https://hooks.example.com/services/T0/B0/x";
  const more = (name: string, entry: string) => `${smallest}    ${name}:\n      - ${entry}\n`;

  test.each([
    ["service.auth_url", (host: string) => smallest.replace("https://issuer.example.com", `http://${host}`)],
    ["service.ws_url", (host: string) => smallest.replace("wss://metrics.example.com", `ws://${host}`)],
    ["receivers[0].slack_configs[0].api_url", (host: string) => smallest.replace(slack, `http://${host}/path`)],
    ["receivers[0].webhook_configs[0].url", (host: string) => more("webhook_configs", `url: http://${host}/path`)],
    [
      "receivers[0].alertmanager_configs[0].url",
      (host: string) =>
        more("alertmanager_configs", `{ url: "http://${host}", http_config: { authorization: { credentials: x } } }`),
    ],
    [
      "slack_api_url",
      (host: string) =>
        `${smallest.replace(`api_url: ${slack}`, "{ bot_token: xoxb-0123456789, channel: C01 }")}slack_api_url: http://${host}/api/\n`,
    ],
    ["heartbeat.url", (host: string) => `${smallest}heartbeat: { url: "http://${host}/path" }\n`],
    ["redis.url", (host: string) => `${smallest}redis: { url: "redis://${host}:6379" }\n`],
    ["redis", (host: string) => `${smallest}redis: { name: m, sentinels: ["localhost:1", "${host}:26379"] }\n`],
    ["redis", (host: string) => `${smallest}redis: { cluster: ["${host}:6379"], password: x }\n`],
    [
      "smtp.require_tls",
      (host: string) => {
        const login = "from: a@b, username: u, password: p, require_tls: false";
        return `${smallest}smtp: { host: "${host.replace(/[[\]]/g, "")}", ${login} }\n`;
      },
    ],
  ])("to another host are warned of at %s, not to this one or inside a container network", (path, text) => {
    for (const host of ["far.example.com", "localhost.example.com", "127.example.com", "10.0.0.7", "svc.example.com"]) {
      expect(warningsOf(text(host)), host).toEqual([
        expect.stringMatching(new RegExp(`: ${RegExp.escape(path)}: found .* encrypted in transit$`)),
      ]);
      expect(warningsOf(text(host))[0]).not.toContain(host);
    }
    for (const host of ["localhost", "lens.localhost", "127.0.0.9", "[::1]", "redis", "redis.shop.svc.cluster.local"]) {
      expect(warningsOf(text(host)), host).toEqual([]);
    }
  });

  test("are not warned of where TLS or the absence of credentials protects them", () => {
    const open = more("alertmanager_configs", "url: http://am.example.com");
    const sentinels = `${smallest}redis: { name: m, sentinels: ["s.example.com:1"], tls: {} }\n`;
    const login = "username: u, password: p";
    const smtp = (keys: string) => `${smallest}smtp: { host: mail.example.com, from: a@b, ${keys} }\n`;
    const fine = [
      open,
      sentinels,
      smtp(login),
      smtp(`${login}, port: 465, require_tls: false`),
      smtp("require_tls: false"),
    ];
    expect(fine.flatMap((text) => warningsOf(text))).toEqual([]);
  });

  test("to a proxy are warned of by the variable's name, without its value", () => {
    const env = { https_proxy: "http://user:s3cret@proxy.example.com:3128", HTTP_PROXY: "http://proxy.example.com" };
    expect(warningsOf(smallest, env)).toEqual([
      "lenswatch.yaml:1:1: found a login in the http:// URL of HTTPS_PROXY, expected https:// so that it is encrypted in transit",
    ]);
  });
});
