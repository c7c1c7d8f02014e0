import { expect, test } from "vitest";
import { negotiateFormat } from "../../src/metrics/text.ts";

test.each([
  ["no header", undefined, "prometheus"],
  ["an empty header", "", "prometheus"],
  ["a browser", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "prometheus"],
  ["curl", "*/*", "prometheus"],
  [
    "Prometheus 2",
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "openmetrics",
  ],
  [
    "Prometheus 3",
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
    "openmetrics",
  ],
  [
    "a scraper told to use the older format",
    "text/plain;version=0.0.4,application/openmetrics-text;q=0.5",
    "prometheus",
  ],
  ["OpenMetrics without a version", "application/openmetrics-text", "openmetrics"],
  ["a version of OpenMetrics not written here", "application/openmetrics-text;version=0.0.1", "prometheus"],
  ["OpenMetrics refused", "application/openmetrics-text;q=0, text/plain;q=0.1", "prometheus"],
  ["OpenMetrics refused beside everything", "*/*, application/openmetrics-text;q=0", "prometheus"],
  ["both alike, OpenMetrics first", "application/openmetrics-text, text/plain", "openmetrics"],
  ["both alike, text first", "text/plain, application/openmetrics-text", "prometheus"],
  ["upper case and spaces", "Application/OpenMetrics-Text ; Version=1.0.0 ; Q=0.9", "openmetrics"],
  ["a quality that is none", "application/openmetrics-text;q=high, text/plain;q=0.1", "prometheus"],
  ["nothing that exists here", "image/png", "prometheus"],
])("%s gets %3$s", (_, accept, format) => {
  expect(negotiateFormat(accept)).toBe(format);
});

test("an Accept header as long as Node lets through is read at once", () => {
  const accept = `${"a/b;q=0.1,".repeat(1_600)}application/openmetrics-text`;
  expect(negotiateFormat(accept)).toBe("openmetrics");
});
