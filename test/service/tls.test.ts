import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { ServiceError, ServiceSettings } from "../../src/service/service.ts";
import { demanding, hasOpenssl, makePki } from "../support/pki.ts";
import { startProxy } from "../support/proxy.ts";
import { type Script, type Scripted, someStatus, startClient, startScripted, statusRow } from "./support.ts";

const script: Script = { http: (_, response) => response.end("[]"), asked: (asked) => asked.reply([statusRow()]) };

const title = hasOpenssl ? "service.tls" : "service.tls (skipped: openssl is not installed)";
describe.skipIf(!hasOpenssl)(title, () => {
  const pki = hasOpenssl ? makePki() : undefined;
  if (!pki) return;
  const own = { ca: pki.ca, ...pki.client };
  const strangers = { ca: pki.ca, cert: undefined, key: undefined };

  async function failures(at: Scripted, tls: ServiceSettings["tls"]): Promise<ServiceError[]> {
    const { service } = startClient(at, { config: { tls } });
    const asked = [service.checkStatus(), service.locations(), service.statusUptime(someStatus)];
    const settled = await Promise.allSettled(asked);
    return settled.map((one) => (one.status === "rejected" ? one.reason : undefined));
  }

  it("gives the issuer, the Core API and the socket its authorities and its certificate", async () => {
    const scripted = await startScripted({ ...script, tls: demanding(pki) });
    const { service } = startClient(scripted, { config: { tls: own } });
    await service.checkStatus();
    expect((await service.locations()).locations).toEqual([]);
    expect((await service.statusUptime(someStatus)).readings).toHaveLength(1);
    expect(scripted.tokens).toHaveLength(1);
    expect(scripted.handshakes).toEqual(scripted.tokens);
  });

  it("goes with the requests through a proxy of the environment", async () => {
    const scripted = await startScripted({ ...script, tls: demanding(pki) });
    const proxy = await startProxy();
    const { service } = startClient(scripted, { config: { tls: own }, proxyEnv: { HTTPS_PROXY: proxy.url } });
    await service.locations();
    await service.statusUptime(someStatus);
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT ${new URL(scripted.baseUrl).host}`]));
    expect(proxy.seen.length).toBeGreaterThan(1);
  });

  const refusals: [string, ServiceSettings["tls"], Script["tls"]][] = [
    ["a service that nobody we know vouches for", undefined, demanding(pki)],
    ["a service that another authority vouches for", { ...own, ca: makePki().ca }, demanding(pki)],
    ["a certificate that is for another host", own, demanding(pki, pki.elsewhere)],
    ["a service that wants a certificate, where we have none", strangers, demanding(pki)],
  ];

  // Together, as each waits for the time limit of a request.
  it("refuses a service or a certificate it cannot trust: neither credentials nor token leave", async () => {
    const checks = refusals.map(async ([what, tls, served]) => {
      const scripted = await startScripted({ ...script, tls: served ?? {} });
      const errors = await failures(scripted, tls);
      return { what, errors, left: [scripted.tokens, scripted.handshakes] };
    });
    for (const { what, errors, left } of await Promise.all(checks)) {
      expect(errors, what).toHaveLength(3);
      for (const error of errors) {
        expect(error, what).toMatchObject({ code: "unavailable", retryable: true });
        expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("PRIVATE KEY");
      }
      expect(left, what).toEqual([[], []]);
      const isNamed = /\(ERR_TLS_CERT_ALTNAME_INVALID\): check the address, its certificate, service\.tls/;
      if (what.includes("another host")) expect(errors[0]?.message).toMatch(isNamed);
    }
  });
});
