/** The Alertmanager whose routing, matchers and API v2 lenswatch follows; clients read it as a semantic version. */
export const alertmanagerVersion = "0.34.0";
