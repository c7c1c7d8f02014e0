import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { chart } from "../../.ci/config-schema.ts";
import { parseConfig } from "../../src/config/load.ts";
import { at, decodeStrictly, find, lacks, lint, type Manifest, render, template } from "./render.ts";

const missing = lacks("helm", "version");
const valueFiles = ["small", "full", "own-configmap"] as const;
const pod = "spec.template.spec";

describe.skipIf(missing)(`the chart${missing ? ` (${missing})` : ""}`, () => {
  test.each(valueFiles)("passes helm's strict lint with the %s values", async (values) => {
    expect(await lint(values)).toContain("1 chart(s) linted, 0 chart(s) failed");
  });

  test.each(["small", "full"] as const)(
    "mounts a configuration lenswatch takes, with the %s values",
    async (values) => {
      const config = configIn(await render(values));
      const env = Object.fromEntries(
        [...config.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => [name, valueIn(name)]),
      );
      const readSecret = (path: string) =>
        path.endsWith("url") ? "https://hooks.example.com/x" : `a-secret-of-${path.replaceAll("/", "-")}`;
      const parsed = parseConfig(config, { file: "lenswatch.yaml", env, readSecret });
      expect(parsed).not.toHaveProperty("problems");
    },
  );

  test("points at the chart's own Redis where the configuration names none", async () => {
    const url = `url: redis://:\${LENSWATCH_REDIS_PASSWORD}@watch-lenswatch-redis:6379/0`;
    expect(configIn(await render("small"))).toContain(url);
  });

  test("refuses to install without any Redis", async () => {
    await expect(template("small", "redis.enabled=false")).rejects.toThrow(/config\.redis names no Redis/);
  });

  test.each([
    ["a literal secret", "config.service.client_secret=hunter2", /client_secret/],
    ["a key lenswatch does not know", "config.servise.base_url=x", /servise/],
    ["a value the chart does not know", "replicas=3", /replicas/],
    ["a budget below the shutdown's", "terminationGracePeriodSeconds=5", /terminationGracePeriodSeconds/],
    ["scaling of a role that is not apart", "autoscaling.enabled=true", /roles\.split/],
    ["a login in Redis' URL", "config.redis.url=redis://:hunter2@redis:6379/0", /redis/],
  ])("refuses %s", async (_, set, said) => {
    await expect(template("small", set)).rejects.toThrow(said);
  });

  test.each(valueFiles)("runs every container as nobody, with the %s values", async (values) => {
    const pods = podsOf(await render(values));
    expect(pods.length).toBeGreaterThan(1);
    for (const { spec, containers } of pods) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      });
      for (const container of containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
      }
    }
  });

  test.each(valueFiles)("has no secret on a command line, with the %s values", async (values) => {
    const manifests = await render(values);
    for (const { containers } of podsOf(manifests)) {
      for (const { args = [], command = [] } of containers) {
        expect([...args, ...command].join(" ")).not.toMatch(/\$\(|secret|password|token/i);
      }
    }
  });

  test("takes secrets from variables and files", async () => {
    const deployment = find(await render("small"), "Deployment", "watch-lenswatch");
    const container = at(deployment, `${pod}.containers.0`);
    expect(at(container, "env")).toContainEqual({
      name: "LENSWATCH_CLIENT_SECRET",
      valueFrom: { secretKeyRef: { name: "lenswatch", key: "client-secret" } },
    });
    expect(at(container, "volumeMounts")).toContainEqual({
      name: "secret-slack",
      mountPath: "/etc/lenswatch-secrets/slack",
      readOnly: true,
    });
    expect(at(deployment, `${pod}.volumes`)).toContainEqual({
      name: "secret-slack",
      secret: { secretName: "slack", defaultMode: 0o440 },
    });
  });

  test("replaces its pods without a gap, and gives them longer than they need to end", async () => {
    const deployment = find(await render("small"), "Deployment", "watch-lenswatch");
    expect(at(deployment, "spec.strategy.rollingUpdate")).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    const grace = Number(at(deployment, `${pod}.terminationGracePeriodSeconds`));
    const sleep = Number(at(deployment, `${pod}.containers.0.lifecycle.preStop.sleep.seconds`));
    expect(grace).toBeGreaterThan(10 + sleep);
  });

  test("rolls the pods when the configuration changes, and not for anything else", async () => {
    const sum = async (...set: string[]) =>
      at(find(await render("small", ...set), "Deployment", "watch-lenswatch"), "spec.template.metadata.annotations");
    const before = await sum();
    expect(await sum("replicaCount=5")).toEqual(before);
    expect(await sum("config.watch.status_interval=15s")).not.toEqual(before);
  });

  test("probes what the daemon serves, on the port it listens on", async () => {
    const container = at(find(await render("full"), "Deployment", "watch-lenswatch-web"), `${pod}.containers.0`);
    expect(at(container, "ports.0")).toEqual({ name: "http", containerPort: 8080, protocol: "TCP" });
    expect(at(container, "livenessProbe.httpGet")).toEqual({ path: "/healthz", port: "http", scheme: "HTTP" });
    expect(at(container, "readinessProbe.httpGet")).toEqual({ path: "/readyz", port: "http", scheme: "HTTP" });
  });

  test("probes and scrapes with TLS, and on a port of their own, where the configuration has them", async () => {
    const tls = [
      "tls.enabled=true",
      "config.http.tls.cert_file=/etc/lenswatch-secrets/tls/tls.crt",
      "config.http.tls.key_file=/etc/lenswatch-secrets/tls/tls.key",
    ];
    const manifests = await render(
      "small",
      ...tls,
      "config.http.metrics_listen=[::]:9596",
      "serviceMonitor.enabled=true",
    );
    const container = at(find(manifests, "Deployment", "watch-lenswatch"), `${pod}.containers.0`);
    expect(at(container, "ports.1")).toEqual({ name: "metrics", containerPort: 9596, protocol: "TCP" });
    for (const probe of ["startup", "liveness", "readiness"])
      expect(at(container, `${probe}Probe.httpGet`)).toMatchObject({ port: "metrics", scheme: "HTTPS" });
    const monitor = find(manifests, "ServiceMonitor", "watch-lenswatch");
    expect(at(monitor, "spec.endpoints.0")).toMatchObject({ port: "metrics", scheme: "https" });
    for (const name of ["watch-lenswatch", "watch-lenswatch-metrics"])
      expect(at(find(manifests, "Service", name), "spec.ports")).toContainEqual(
        expect.objectContaining({ name: "metrics", targetPort: "metrics" }),
      );
    const policy = find(manifests, "NetworkPolicy", "watch-lenswatch");
    expect(at(policy, "spec.ingress.0.ports")).toContainEqual({ port: "metrics", protocol: "TCP" });
    const asked = find(manifests, "Pod", "watch-lenswatch-test");
    expect(String(at(asked, "spec.containers.0.command"))).toContain('"https://watch-lenswatch:9596/readyz"');
  });

  test("splits the roles, each with its own replicas, and scales the notifying one", async () => {
    const manifests = await render("full");
    const roles = ["poll", "notify", "web"].map((role) => {
      const deployment = find(manifests, "Deployment", `watch-lenswatch-${role}`);
      return [at(deployment, `${pod}.containers.0.args`), at(deployment, "spec.replicas")];
    });
    expect(roles).toEqual([
      [["run", "--role", "poll"], 3],
      [["run", "--role", "notify"], undefined],
      [["run", "--role", "web"], 2],
    ]);
    const scaler = find(manifests, "HorizontalPodAutoscaler", "watch-lenswatch-notify");
    expect(at(scaler, "spec.scaleTargetRef.name")).toBe("watch-lenswatch-notify");
  });

  test.each(valueFiles)("selects with every selector just what is there, with the %s values", async (values) => {
    const manifests = await render(values);
    const labels = podsOf(manifests).map(({ labels }) => labels);
    const selectors = manifests.flatMap(selectorsOf);
    expect(selectors.length).toBeGreaterThan(2);
    for (const { who, selector } of selectors) {
      const chosen = labels.filter((pod) => Object.entries(selector).every(([key, value]) => pod[key] === value));
      expect(chosen.length, `${who} selects nothing`).toBeGreaterThan(0);
      const redis = chosen.filter((pod) => pod["app.kubernetes.io/component"] === "redis");
      expect(redis.length === 0 || redis.length === chosen.length, `${who} selects both`).toBe(true);
    }
  });

  test("scrapes every replica with the token, once", async () => {
    const manifests = await render("full");
    const monitor = find(manifests, "ServiceMonitor", "watch-lenswatch");
    expect(at(monitor, "spec.endpoints.0.authorization.credentials")).toEqual({
      name: "lenswatch",
      key: "LENSWATCH_READ_TOKEN",
    });
    const wanted = at(monitor, "spec.selector.matchLabels") as Record<string, string>;
    const chosen = manifests.filter(
      ({ kind, metadata }) =>
        kind === "Service" && Object.entries(wanted).every(([key, value]) => metadata.labels[key] === value),
    );
    expect(chosen.map(({ metadata }) => metadata.name)).toEqual(["watch-lenswatch-metrics"]);
  });

  test("lets nothing but lenswatch reach its Redis, and Redis nothing", async () => {
    const policy = find(await render("small"), "NetworkPolicy", "watch-lenswatch-redis");
    expect(at(policy, "spec")).toEqual({
      podSelector: { matchLabels: labelsOf("lenswatch-redis") },
      policyTypes: ["Ingress", "Egress"],
      ingress: [
        {
          ports: [{ port: "redis", protocol: "TCP" }],
          from: [{ podSelector: { matchLabels: labelsOf("lenswatch") } }],
        },
      ],
    });
  });

  test("lets lenswatch reach the ports its configuration names, and the listed ones", async () => {
    const named = [
      "config.service.base_url=https://core.example.com:8443/api",
      "config.service.ws_url=ws://metrics.example.com",
      "config.receivers[0].alertmanager_configs[0].url=http://[2001:db8::1]:8080",
      "config.smtp.host=smtp.example.com",
      "config.smtp.from=x@example.com",
      "config.smtp.port=2525",
      "env[0].name=HTTPS_PROXY",
      "env[0].value=http://proxy.example.com:3128",
      "config.redis.cluster[0]=redis-1:7001",
    ];
    const policy = find(await render("small", ...named), "NetworkPolicy", "watch-lenswatch");
    const ports = (at(policy, "spec.egress.2.ports") as { port: number }[]).map(({ port }) => port);
    expect(ports).toEqual([443, 465, 587, 6379, 9093, 26379, 8080, 8443, 80, 3128, 7001, 2525]);
  });

  test("lets `helm test` ask for readiness, also where few may reach lenswatch", async () => {
    const manifests = await render("full");
    const pod = find(manifests, "Pod", "watch-lenswatch-test");
    const policy = find(manifests, "NetworkPolicy", "watch-lenswatch");
    expect(at(policy, "spec.ingress.0.from")).toContainEqual({
      podSelector: { matchLabels: labelsOf("lenswatch-test") },
    });
    expect(pod.metadata.labels).toMatchObject(labelsOf("lenswatch-test"));
    expect(String(at(pod, "spec.containers.0.command"))).toContain('"http://watch-lenswatch:9595/readyz"');
    for (const { who, selector } of manifests.flatMap(selectorsOf))
      expect(pod.metadata.labels, who).not.toMatchObject(selector);
  });

  test("keeps what Redis holds: on disk, and never evicted", async () => {
    const manifests = await render("own-configmap");
    const conf = String(Object.values(at(find(manifests, "ConfigMap", "watch-lenswatch-redis"), "data") ?? {}));
    expect(conf).toMatch(/^appendonly yes$/m);
    expect(conf).toMatch(/^maxmemory-policy noeviction$/m);
    expect(conf).toMatch(/^aclfile \/etc\/redis-auth\/users\.acl$/m);
    const set = find(manifests, "StatefulSet", "watch-lenswatch-redis");
    expect(at(set, "spec.volumeClaimTemplates.0.spec")).toEqual({
      accessModes: ["ReadWriteOnce"],
      storageClassName: "fast",
      resources: { requests: { storage: "8Gi" } },
    });
  });

  test("leaves out what is not asked for", async () => {
    const kinds = (await render("small")).map(({ kind }) => kind);
    for (const kind of ["Ingress", "ServiceMonitor", "PrometheusRule", "HorizontalPodAutoscaler"])
      expect(kinds).not.toContain(kind);
    expect((await render("own-configmap")).map(({ kind }) => kind)).not.toContain("PodDisruptionBudget");
    expect((await render("small", "networkPolicy.enabled=false")).map(({ kind }) => kind)).not.toContain(
      "NetworkPolicy",
    );
  });
});

const undecoded = missing ?? lacks("strict");

describe.skipIf(undecoded)(`the manifests${undecoded ? ` (${undecoded}: .ci/go-tools builds it)` : ""}`, () => {
  test.each(valueFiles)("fit the types of Kubernetes to the last field, with the %s values", async (values) => {
    const kinds = (await render(values)).map(({ kind }) => kind);
    expect(await decodeStrictly(await template(values))).toEqual(kinds);
  });

  test("would be found out otherwise", async () => {
    const wrong = (await template("small")).replace("enableServiceLinks", "enableServiceLink");
    await expect(decodeStrictly(wrong)).rejects.toThrow(/unknown field "spec\.template\.spec\.enableServiceLink"/);
  });
});

describe("what the chart ships", () => {
  test.each([
    ["lenswatch.rules.yml", "prometheus/lenswatch.rules.yml"],
    ["lenswatch.json", "grafana/lenswatch.json"],
  ])("%s is the one in config/", (shipped, original) => {
    const config = resolve(chart, "../../config");
    expect(readFileSync(resolve(chart, "files", shipped), "utf8")).toBe(
      readFileSync(resolve(config, original), "utf8"),
    );
  });
});

function configIn(manifests: readonly Manifest[]): string {
  return String(Object.values(at(find(manifests, "ConfigMap", "watch-lenswatch"), "data") ?? {})[0]);
}

const valueIn = (name: string) => (name.endsWith("_URL") ? "https://hooks.example.com/x" : `value-of-${name}`);
const labelsOf = (name: string) => ({ "app.kubernetes.io/name": name, "app.kubernetes.io/instance": "watch" });

interface Container {
  readonly args?: string[];
  readonly command?: string[];
  readonly securityContext: unknown;
}

function podsOf(manifests: readonly Manifest[]) {
  return manifests.flatMap((manifest) => {
    const template = manifest.kind === "Pod" ? manifest : at(manifest, "spec.template");
    const spec = at(template, "spec");
    const containers = at(spec, "containers") as Container[] | undefined;
    if (!containers || !template) return [];
    return [{ spec, containers, labels: (at(template, "metadata.labels") ?? {}) as Record<string, string> }];
  });
}

function selectorsOf(manifest: Manifest): { who: string; selector: Record<string, string> }[] {
  const path = {
    Service: "spec.selector",
    Deployment: "spec.selector.matchLabels",
    StatefulSet: "spec.selector.matchLabels",
    PodDisruptionBudget: "spec.selector.matchLabels",
    NetworkPolicy: "spec.podSelector.matchLabels",
  }[manifest.kind];
  if (!path) return [];
  return [
    { who: `${manifest.kind} ${manifest.metadata.name}`, selector: at(manifest, path) as Record<string, string> },
  ];
}
