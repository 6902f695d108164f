/** In what an endpoint that speaks the Messages API differs from the original. */
export interface EndpointProfile {
  /** Header that carries the key. */
  readonly auth: 'bearer' | 'x-api-key';
  /** It knows cache marks. */
  readonly caching: boolean;
  /** It wants every property of a tool's input among the required ones: an optional one may then be null. */
  readonly requireAll: boolean;
  /** What becomes of thinking blocks in later requests. */
  readonly thinking: 'echo' | 'drop';
  /** Fields beside the known ones that it puts into text and call blocks and wants back with them. */
  readonly echoFields: readonly string[];
}

export const STANDARD_PROFILE: EndpointProfile = {
  auth: 'bearer',
  caching: true,
  requireAll: false,
  thinking: 'echo',
  echoFields: [],
};
