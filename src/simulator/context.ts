/** The parts of one simulator that all others share. */
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Faults } from "./faults.ts";
import type { HourCalendar } from "./local-time.ts";
import type { TokenIssuer } from "./tokens.ts";
import type { Traits } from "./traits.ts";
import type { VisitCounts } from "./visits/counts.ts";
import type { SimulatorEvents, World } from "./world.ts";

type Credentials = { readonly clientId: string; readonly clientSecret: string; readonly audience: string };

export interface SimulatorContext {
  readonly world: World;
  readonly faults: Faults;
  readonly tokens: TokenIssuer;
  readonly calendar: HourCalendar;
  readonly visits: VisitCounts;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: SimulatorEvents;
  readonly credentials: Credentials;
  readonly traits: Traits;
  /** Aborted at the end: nothing waits any longer. */
  readonly signal: AbortSignal;
  /** Plays what is due by now; called before each request and message. */
  catchUp(): void;
}
