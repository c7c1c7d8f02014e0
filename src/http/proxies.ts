/** Proxies in front of the server: whose X-Forwarded-For is believed. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

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
