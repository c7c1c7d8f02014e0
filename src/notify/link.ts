/** Links to the status page. External text is percent-encoded, `< > |` and quotes included. */

import type { Link } from "../alerting/document.ts";
import type { NotifiedAlert } from "../alerting/model.ts";
import { matchersOf } from "../alerting/prepared-silence.ts";
import { type Alert, groupOfSubject } from "../health/alert.ts";
import { webHref } from "../lib/text.ts";

/** The page of a recording, or the status page of a location, or of recordings in a group; other subjects have none. */
export function statusLink(externalUrl: string, { subject }: Alert): Link | undefined {
  const { kind, id } = subject;
  const group = groupOfSubject(subject);
  const paths = { recording: `recordings/${encode(id)}`, location: `?location=${encode(id)}` };
  if (kind !== "recording" && kind !== "location" && !group) return undefined;
  const path = group ? `?q=${encode(group.value.slice(0, 256))}` : paths[kind as keyof typeof paths];
  return { label: "Status", url: safeUrl(`${externalUrl}/${path}`) };
}

/** The page of a firing alert, with the form that acknowledges it. */
export function alertLink(externalUrl: string, { fingerprint }: NotifiedAlert): Link {
  return { label: "Acknowledge", url: safeUrl(`${externalUrl}/alerts/${encode(fingerprint)}`) };
}

/** The form for a new silence, with the alert's matchers; for alerts with a status link. */
export function silenceLink(externalUrl: string, alert: Alert): Link | undefined {
  if (statusLink(externalUrl, alert) === undefined) return undefined;
  const query = new URLSearchParams({ matchers: matchersOf(alert).toWellFormed() });
  return { label: "Silence", url: safeUrl(`${externalUrl}/silences/new?${query}`) };
}

/** The status page. */
export function overviewLink(externalUrl: string): Link {
  return { label: "Open status page", url: safeUrl(`${externalUrl}/`) };
}

/** An http(s) URL from an annotation, safe to print; undefined for any other text. */
export function printableUrl(text: string | undefined): string | undefined {
  const url = webHref(text);
  return url && safeUrl(url);
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function safeUrl(url: string): string {
  return url.replace(/[<>|"'`\\*\s]/g, percent);
}

function percent(character: string): string {
  return { "'": "%27", "*": "%2A" }[character] ?? encodeURIComponent(character);
}
