import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** What commands may reach. Entries: `host`, `*.suffix`, either with `:port`; without a port 80 and 443. */
export interface NetworkRules {
  readonly hosts: readonly string[];
  /** Entries that count like those of `hosts` and may lead to a private address: a company's own mirror. */
  readonly privateHosts: readonly string[];
}

export type HostVerdict = 'private-allowed' | 'allowed' | 'refused';

const DEFAULT_PORTS = new Set([80, 443]);
/** No user part, no space, no other alphabet: what a name could hide behind is no name. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/u;

/** Whether a host, as a program named it, is listed. An address counts only if the very address is listed. */
export function judgeHost(host: string, port: number, rules: NetworkRules): HostVerdict {
  const name = host.toLowerCase().replace(/\.$/u, '');
  if (isIP(name) === 0 && !HOST_NAME.test(name)) return 'refused';
  if (rules.privateHosts.some((entry) => matches(entry, name, port))) return 'private-allowed';
  return rules.hosts.some((entry) => matches(entry, name, port)) ? 'allowed' : 'refused';
}

function matches(entry: string, name: string, port: number): boolean {
  const [, pattern = '', wantedPort] = /^(.*?)(?::(\d+))?$/u.exec(entry.toLowerCase()) ?? [];
  if (wantedPort === undefined ? !DEFAULT_PORTS.has(port) : Number(wantedPort) !== port) return false;
  if (!pattern.startsWith('*.')) return name === pattern;
  return isIP(name) === 0 && name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1;
}

/** `never`: this machine, its links, and what is no host at all. Decided on the address that will be connected to. */
export function addressKind(address: string): 'never' | 'private' | 'public' {
  const plain = embeddedIpv4(address) ?? address;
  const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6';
  if (isIP(plain) === 0 || NEVER.check(plain, family) || isOwnAddress(plain)) return 'never';
  return PRIVATE.check(plain, family) ? 'private' : 'public';
}

/** IPv4 in an IPv6 address (mapped, or translated by a NAT64), as the network will see it. */
function embeddedIpv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const words = toWords(address);
  const head = words
    .slice(0, 6)
    .map((word) => word.toString(16))
    .join(':');
  if (!['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0', '0:0:0:0:ffff:0'].includes(head)) return undefined;
  return words
    .slice(6)
    .flatMap((word) => [word >> 8, word & 0xff])
    .join('.');
}

function toWords(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/u.exec(address.replace(/%.*$/u, ''));
  const [a = 0, b = 0, c = 0, d = 0] = (dotted ?? []).slice(2).map(Number);
  const hex =
    dotted === null
      ? address.replace(/%.*$/u, '')
      : `${dotted[1] ?? ''}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const [front = '', back] = hex.split('::');
  const words = (text: string | undefined): number[] =>
    text === undefined || text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
  const left = words(front);
  const right = words(back);
  const gap = back === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array.from({ length: gap }, () => 0), ...right];
}

/** The machine's own addresses lead to what listens on it, like loopback. */
function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === address) === true);
}

const NEVER = blockList([
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['::/96', 'fe80::/10', 'fec0::/10', 'ff00::/8', '2001:db8::/32', '192.0.2.0/24'],
]);
const PRIVATE = blockList([
  ...['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15'],
  ...['fc00::/7', '2002::/16', '2001::/32', '64:ff9b:1::/48'],
]);

function blockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = '', bits = '0'] = subnet.split('/');
    list.addSubnet(net, Number(bits), net.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}
