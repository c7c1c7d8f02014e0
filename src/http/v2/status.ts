/** `GET /api/v2/status` as Alertmanager answers it; `amtool` asks for it before every command. */
import { alertmanagerVersion } from "../../alerting/alertmanager-version.ts";
import type { Instant } from "../../lib/clock.ts";
import type { ShownConfig } from "../deps.ts";
import { alertmanagerConfig } from "./config-original.ts";

export interface StatusFacts {
  readonly config: ShownConfig;
  /** Of lenswatch. */
  readonly version: string;
  readonly startedAt: Instant;
}

/** No cluster of Alertmanagers: `disabled`, without peers. */
export function alertmanagerStatus({ config, version, startedAt }: StatusFacts) {
  return {
    cluster: { status: "disabled", peers: [] },
    versionInfo: {
      version: alertmanagerVersion,
      revision: `lenswatch ${version}`,
      branch: "",
      buildUser: "",
      buildDate: "",
      goVersion: "",
    },
    config: { original: alertmanagerConfig(config) },
    uptime: new Date(startedAt).toISOString(),
  };
}
