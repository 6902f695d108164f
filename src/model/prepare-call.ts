import { STANDARD_PROFILE, type EndpointProfile } from '../contract/endpoint-profile';
import { dumpRequest } from './dump-request';
import type { ModelRequest } from './port';
import { prepareRequest } from './request';
import type { WireRequest } from './wire';

/** What every model does before it answers: check and build the request, say what was repaired, dump it if asked to. */
export async function prepareCall(
  request: ModelRequest,
  onWarning: (text: string) => void,
  profile: EndpointProfile = STANDARD_PROFILE,
): Promise<WireRequest> {
  const { body, repaired } = prepareRequest(request, profile);
  if (repaired.length > 0) {
    onWarning(
      `Turn ${String(request.turn)}: the conversation was repaired before it was sent (${repaired.join(', ')}).`,
    );
  }
  await dumpRequest(request, body, onWarning);
  return body;
}
