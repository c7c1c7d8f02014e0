/** The checks of `init`, over the network. */
import type { Config } from "../../config/config.ts";
import { systemClock } from "../../lib/clock.ts";
import { CodedError } from "../../lib/errors.ts";
import { counted } from "../../lib/format.ts";
import { silentLogger } from "../../lib/log.ts";
import { stripControls } from "../../lib/text.ts";
import { createService, type Service } from "../../service/service.ts";
import { sendTestMessages } from "../notify-test.ts";
import { RECEIVER } from "./draft.ts";

/** `text` is a sentence without its end; `isPassing`: a later try may succeed. */
export type CheckResult = { readonly passed: boolean; readonly text: string; readonly isPassing?: boolean };

const REQUEST_TIMEOUT_MS = 10_000;
/** The number of locations in one request of the daemon, by default. */
const SAMPLE = 50;

/** A token, the list of locations, and the status of some over the socket. Never throws, unless the signal aborts. */
export async function checkService(config: Config, signal: AbortSignal): Promise<CheckResult> {
  const settings = { ...config.service, requestTimeoutMs: REQUEST_TIMEOUT_MS };
  const service = createService({ config: settings, clock: systemClock, log: silentLogger });
  try {
    return await readFleet(service, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(thrown instanceof CodedError)) throw thrown;
    return { passed: false, text: asClause(thrown.message), isPassing: thrown.retryable };
  } finally {
    await service.close();
  }
}

async function readFleet(service: Service, signal: AbortSignal): Promise<CheckResult> {
  const { locations } = await service.locations(signal);
  if (locations.length === 0) {
    const text = "the token was issued, but the service lists no locations for it: ask the account manager for access";
    return { passed: false, text };
  }
  const sample = locations.slice(0, SAMPLE).map(({ id }) => id);
  const { readings } = await service.statusUptime({ entities: sample, entityType: "location" }, signal);
  const where = locations.length > SAMPLE ? ` at the first ${SAMPLE}` : "";
  const text = `token issued, ${counted(locations.length, "location")}, ${counted(readings.length, "recording")}${where}`;
  return { passed: true, text };
}

/** A test message to each integration of the receiver. Never throws, unless the signal aborts. */
export async function checkReceiver(config: Config, signal: AbortSignal): Promise<CheckResult> {
  const results = await sendTestMessages(config, RECEIVER, signal);
  signal.throwIfAborted();
  const refused = results.find(({ accepted }) => !accepted);
  if (refused) return { passed: false, text: asClause(refused.problem ?? "") };
  return { passed: true, text: `${counted(results.length, "test message")} accepted` };
}

function asClause(message: string): string {
  return stripControls(message).replace(/\.$/, "");
}
