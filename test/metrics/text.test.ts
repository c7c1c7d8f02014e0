import { expect, test } from "vitest";
import { negotiateFormat, renderBound, renderHead, renderLabel, renderSample } from "../../src/metrics/text.ts";

test.each([
  ["an ordinary name", "Till 1", "Till 1"],
  ["quotes and backslashes", 'the "front\\back" door', 'the \\"front\\\\back\\" door'],
  ["line breaks", "one\ntwo\r\nthree", "one two three"],
  ["control and direction characters", "a\u0000b\u202ec\u001bd", "abcd"],
  ["half a character", "x\ud800", "x\ufffd"],
  ["other scripts", "入口カメラ 🎥", "入口カメラ 🎥"],
  ["a label of its own", 'x"} 1\nevil{a="', 'x\\"} 1 evil{a=\\"'],
])("%s is written as one harmless value", (_, value, written) => {
  expect(renderLabel("name", value)).toBe(`name="${written}"`);
});

test("a name of 10,000 characters is cut to 256, whole characters all of them", () => {
  const value = renderLabel("name", "🎥".repeat(10_000)).slice('name="'.length, -1);
  expect([...value]).toHaveLength(256);
  expect(value.isWellFormed()).toBe(true);
  expect(value.endsWith("…")).toBe(true);
});

test.each([
  [0, "m 0\n"],
  [0.1 + 0.2, "m 0.30000000000000004\n"],
  [1_769_860_787.5, "m 1769860787.5\n"],
  [Number.POSITIVE_INFINITY, "m +Inf\n"],
  [Number.NEGATIVE_INFINITY, "m -Inf\n"],
  [Number.NaN, ""],
])("the value %s is written as %j", (value, line) => {
  expect(renderSample("m", "", value)).toBe(line);
});

test("OpenMetrics names a counter's family without _total, and escapes quotes in help", () => {
  const metric = { name: "x_total", help: 'Say "x"\\\n', type: "counter" } as const;
  expect(renderHead(metric, "prometheus")).toBe('# HELP x_total Say "x"\\\\\\n\n# TYPE x_total counter\n');
  expect(renderHead(metric, "openmetrics")).toBe('# HELP x Say \\"x\\"\\\\\\n\n# TYPE x counter\n');
});

test("OpenMetrics gets bucket bounds as floats", () => {
  expect([1, "0.5", "+Inf"].map((bound) => renderBound(bound, "openmetrics"))).toEqual(["1.0", "0.5", "+Inf"]);
  expect([1, "0.5", "+Inf"].map((bound) => renderBound(bound, "prometheus"))).toEqual(["1", "0.5", "+Inf"]);
});

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
