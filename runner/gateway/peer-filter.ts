import { BlockList, isIP } from "node:net";

/** Tells whether a peer's address is in one of these CIDR blocks; null lets everyone in. */
export function peerFilter(networks: readonly string[] | null): (peer: string) => boolean {
  if (networks === null) return () => true;
  const blocks = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    blocks.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return (peer) => isIP(peer) !== 0 && blocks.check(peer, isIP(peer) === 6 ? "ipv6" : "ipv4");
}
