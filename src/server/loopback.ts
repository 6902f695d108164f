import { connect } from 'node:net';

/** Whether something listens at an address such as `127.0.0.1:7233`. */
export function canConnect(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    const answer = (listens: boolean) => () => {
      socket.destroy();
      resolve(listens);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
}
