/**
 * Which room may import which: arrows point one way, and adapters (service, store, notify, metrics, http,
 * simulator, demo) never import each other; they meet in app.ts and in commands. `*` is every room but main.
 */
export const mayImport: Readonly<Record<string, readonly string[] | "*">> = {
  main: ["app", "commands", "config", "lib"],
  app: "*",
  channels: "*",
  views: "*",
  shift: "*",
  commands: "*",
  config: ["health", "alerting", "lib"],
  health: ["lib"],
  alerting: ["health", "lib"],
  service: ["health", "lib", ...typesOf("config")],
  store: ["health", "alerting", "lib"],
  // Adapters are handed in; only their shapes are known here.
  jobs: [
    "health",
    "alerting",
    "digest",
    "lib",
    ...typesOf("config", "service", "store", "notify", "metrics"),
  ],
  notify: ["health", "alerting", "lib", ...typesOf("config")],
  digest: ["health", "alerting", "lib"],
  backtest: ["health", "alerting", "lib"],
  metrics: ["health", "alerting", "lib"],
  http: ["health", "alerting", "lib"],
  simulator: ["lib"],
  demo: ["lib"],
  lib: [],
};

function typesOf(...rooms: string[]): string[] {
  return rooms.map((room) => `${room} (types)`);
}
