/**
 * Which folder of src may import which. Arrows point one way; poll, deliver and digest never import each other;
 * adapters (service, store, notify, metrics, http, simulator, demo) meet in app and commands. `*` is all but main and client.
 */
export const mayImport: Readonly<Record<string, readonly string[] | "*">> = {
  bin: ["main"],
  client: ["service", "lib", ...typesOf("health")],
  main: ["app", "commands", "config", "lib"],
  app: "*",
  commands: "*",
  config: ["health", "alerting", "lib"],
  health: ["lib"],
  alerting: ["health", "lib", ...typesOf("counts")],
  counts: ["health", "lib"],
  poll: ["health", "alerting", "counts", "store", "cluster", "lib", ...typesOf("config", "service", "metrics")],
  deliver: ["health", "alerting", "store", "cluster", "lib", ...typesOf("counts", "config", "notify", "metrics")],
  report: ["lib", ...typesOf("alerting", "counts")],
  digest: [
    "health",
    "alerting",
    "counts",
    "report",
    "store",
    "cluster",
    "lib",
    ...typesOf("config", "service", "notify"),
  ],
  cluster: ["store", "lib", ...typesOf("health", "metrics")],
  store: ["health", "alerting", "lib", ...typesOf("counts")],
  "redis-embedded": ["store", "lib"],
  service: ["health", "lib", ...typesOf("config")],
  notify: ["health", "alerting", "lib", ...typesOf("config")],
  metrics: ["health", "alerting", "lib"],
  query: ["health", "lib", ...typesOf("service")],
  http: ["health", "alerting", "query", "report", "lib", ...typesOf("counts", "config", "store", "poll", "deliver")],
  backtest: ["health", "counts", "lib"],
  simulator: ["lib"],
  demo: ["lib"],
  lib: [],
};

function typesOf(...folders: string[]): string[] {
  return folders.map((folder) => `${folder} (types)`);
}
