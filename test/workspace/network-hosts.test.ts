import { networkInterfaces } from 'node:os';
import { addressKind, judgeHost } from '../../src/workspace/network-hosts';

const rules = {
  hosts: ['ok.test', '*.wide.test', 'ports.test:8443', '93.184.216.34'],
  privateHosts: ['mirror.corp.test'],
};

describe('judgeHost', () => {
  test.each([
    ['ok.test', 443, 'allowed'],
    ['OK.Test.', 80, 'allowed'],
    ['a.wide.test', 443, 'allowed'],
    ['a.b.wide.test', 443, 'allowed'],
    ['ports.test', 8443, 'allowed'],
    ['93.184.216.34', 443, 'allowed'],
    ['mirror.corp.test', 443, 'private-allowed'],
    ['wide.test', 443, 'refused'],
    ['notwide.test', 443, 'refused'],
    ['.wide.test', 443, 'refused'],
    ['ok.test', 22, 'refused'],
    ['ok.test', 7233, 'refused'],
    ['ports.test', 443, 'refused'],
    ['sub.ok.test', 443, 'refused'],
    ['ok.test.evil.test', 443, 'refused'],
    ['evil-ok.test', 443, 'refused'],
    ['ok.test@evil.test', 443, 'refused'],
    ['ok.test\0.evil.test', 443, 'refused'],
    ['ok.test\r\n', 443, 'refused'],
    ['ok.test ', 443, 'refused'],
    ['ok。test', 443, 'refused'],
    ['οk.test', 443, 'refused'],
    ['ok.test..', 443, 'refused'],
    ['', 443, 'refused'],
    ['*.wide.test', 443, 'refused'],
    ['93.184.216.35', 443, 'refused'],
    ['0x5db8d822', 443, 'refused'],
    ['127.0.0.1', 443, 'refused'],
    ['::1', 443, 'refused'],
    ['localhost', 443, 'refused'],
  ] as const)('%j port %d → %s', (host, port, verdict) => {
    expect(judgeHost(host, port, rules)).toBe(verdict);
  });

  test('an empty list → everything is refused', () => {
    expect(judgeHost('ok.test', 443, { hosts: [], privateHosts: [] })).toBe('refused');
  });
});

describe('addressKind', () => {
  test.each([
    ['93.184.216.34', 'public'],
    ['2606:2800:220:1::1', 'public'],
    ['::ffff:93.184.216.34', 'public'],
    ['10.1.2.3', 'private'],
    ['172.31.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd00::1', 'private'],
    ['::ffff:10.0.0.1', 'private'],
    ['64:ff9b::a00:1', 'private'],
    ['127.0.0.1', 'never'],
    ['127.255.255.254', 'never'],
    ['0.0.0.0', 'never'],
    ['169.254.169.254', 'never'],
    ['224.0.0.1', 'never'],
    ['255.255.255.255', 'never'],
    ['::1', 'never'],
    ['::', 'never'],
    ['::ffff:127.0.0.1', 'never'],
    ['::ffff:7f00:1', 'never'],
    ['::127.0.0.1', 'never'],
    ['64:ff9b::7f00:1', 'never'],
    ['fe80::1', 'never'],
    ['fe80::1%eth0', 'never'],
    ['ff02::1', 'never'],
    ['no address', 'never'],
  ] as const)('%s → %s', (address, kind) => {
    expect(addressKind(address)).toBe(kind);
  });

  test("each of the machine's own addresses → never", () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
    expect(own.length).toBeGreaterThan(0);
    for (const address of own) expect([address, addressKind(address)]).toEqual([address, 'never']);
  });
});
