/** Proxies in front of the server: whose X-Forwarded-For is believed, and which sign people in. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { stripControls } from "../lib/text.ts";
import type { HttpDeps } from "./deps.ts";
import { noteRefusal, type Principal, scopeSet } from "./principal.ts";

const LONGEST_USER = 200;

/** Checks whether an address is one of these addresses and networks; an IPv4 address also in its IPv6 form. */
export function proxyCheck(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/**
 * Leaves in X-Forwarded-For what Fastify may read: addresses without ports, and of them those after the last text that
 * is none, which no honest proxy wrote.
 */
export function cleanForwardedFor({ headers }: IncomingMessage): void {
  const given = headers["x-forwarded-for"];
  if (given === undefined) return;
  const addresses = String(given).split(",").map(withoutPort);
  const bad = addresses.findLastIndex((address) => isIP(address) === 0);
  headers["x-forwarded-for"] = addresses.slice(bad + 1).join(", ");
}

/** `10.0.0.1:80` and `[::1]:80`, as some proxies write them. */
function withoutPort(text: string): string {
  const [, six, four] = /^\s*(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?\s*$/.exec(text) ?? [];
  return six ?? four ?? text.trim();
}

/** The user that a proxy has signed in; nobody where the connection is not from a trusted one. */
export function proxyAuthenticator(deps: Pick<HttpDeps, "access" | "audit">) {
  return (request: FastifyRequest): Principal | undefined => {
    const { authProxy, isTrustedProxy } = deps.access;
    if (!authProxy || request.headers[authProxy.userHeader.toLowerCase()] === undefined) return undefined;
    if (!isTrustedProxy(request.socket.remoteAddress ?? "")) {
      noteRefusal(deps, request, "untrusted_proxy");
      return undefined;
    }
    const name = onlyHeader(request, authProxy.userHeader);
    if (name === "" || name.length > LONGEST_USER) return undefined;
    const groups = authProxy.groupsHeader === undefined ? "" : onlyHeader(request, authProxy.groupsHeader);
    const isAdmin = groups.split(",").some((group) => authProxy.adminGroups.includes(group.trim()));
    return { via: "proxy", name, person: name, scopes: scopeSet([isAdmin ? "admin" : "read"]) };
  };
}

/** The text of a header, UTF-8 or Latin-1. Empty where it is sent twice: one of them may be the client's own. */
function onlyHeader({ raw }: FastifyRequest, name: string): string {
  const [value = "", ...more] = raw.headersDistinct[name.toLowerCase()] ?? [];
  if (more.length > 0) return "";
  const bytes = Buffer.from(value, "latin1");
  return stripControls(isUtf8(bytes) ? bytes.toString() : value).trim();
}
