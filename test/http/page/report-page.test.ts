import { expect, test } from "vitest";
import { reportPage } from "../../../src/http/page/report-page.ts";
import { withZone } from "../../../src/http/v1/handover.ts";
import { ReportQuery } from "../../../src/http/v1/report.ts";
import { aReport } from "../serve.ts";

test.each([
  ["", "report?period=1mo&by=location&timezone=UTC"],
  [
    "period=1w&from=2026-01-01&to=2026-01-31&by=recording&timezone=Europe%2FLondon&matchers=location%3D%22Leeds%22",
    "report?period=1w&from=2026-01-01&to=2026-01-31&timezone=Europe%2FLondon&by=recording&matchers=location%3D%22Leeds%22",
  ],
])("after signing in, a report that was asked for by %j is shown again", (asked, path) => {
  const query = ReportQuery.parse(Object.fromEntries(new URLSearchParams(asked)));
  expect(reportPage(aReport("Leeds"), withZone(query, "UTC"), undefined).path).toBe(path);
});
