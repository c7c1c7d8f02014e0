/**
 * What the configuration will have and this version does not build yet: refused by name, so that nobody believes
 * it works. Building one means deleting its row. Routes at any depth count as `route`.
 */
export const notBuilt: readonly string[] = ["receivers.webhook_configs", "receivers.alertmanager_configs"];

/** Whether the key at this path is one of them. */
export function isNotBuilt(path: readonly (string | number)[]): boolean {
  const names = path.filter((step) => typeof step === "string");
  const depth = names[0] === "route" ? names.findIndex((name, at) => at > 0 && name !== "routes") : 1;
  return notBuilt.includes([names[0], ...names.slice(depth)].join("."));
}
