import { PROXY_SOCKET } from './network-proxy';

/** Where a sandbox sees the directory of the proxy's socket. */
export const NETWORK_MOUNT = '/run/surehand';

/** From a TCP port of the sandbox's own loopback to the proxy's socket: programs know no proxies on sockets. */
const RELAY = `
const net = require('node:net');
const away = 'HTTP/1.1 502 away\\r\\nconnection: close\\r\\n\\r\\nsurehand: the worker that serves the network is not there now\\n';
net.createServer({ allowHalfOpen: true }, (client) => {
  const proxy = net.connect({ path: '${NETWORK_MOUNT}/${PROXY_SOCKET}', allowHalfOpen: true });
  let open = false;
  const end = () => { client.destroy(); proxy.destroy(); };
  proxy.once('connect', () => { open = true; client.pipe(proxy).pipe(client); });
  proxy.on('error', () => { if (open) end(); else client.end(away); });
  client.on('error', end);
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** The relay runs beside the command and ends with the sandbox. */
const WRAPPER = `
exec 4< <(exec "$1" -e "$2" </dev/null 2>/dev/null)
IFS= read -r -t 20 port <&4
exec 4<&-
if [ -n "$port" ]; then
  proxy=http://127.0.0.1:$port
  export HTTP_PROXY=$proxy HTTPS_PROXY=$proxy http_proxy=$proxy https_proxy=$proxy
  export npm_config_proxy=$proxy npm_config_https_proxy=$proxy NODE_USE_ENV_PROXY=1
  export NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1
else
  echo 'surehand: the way to the network could not be opened' >&2
fi
unset port proxy
exec /bin/bash -c "$3"
`;

/** The argv that runs `command` with the proxy of the mounted directory in its environment. */
export function networkShell(nodePath: string, command: string): readonly string[] {
  return ['/bin/bash', '-c', WRAPPER, 'surehand-network', nodePath, RELAY, command];
}
