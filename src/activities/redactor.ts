/** Masks secrets by value. Longer ones first, so that one secret inside another leaves nothing behind. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = [...secrets].sort((a, b) => b.length - a.length);
  return (text) => known.reduce((masked, secret) => masked.split(secret).join('[secret]'), text);
}
