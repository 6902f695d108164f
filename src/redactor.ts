/**
 * Masks secrets in a text that leaves the host. `piece`: the text was cut out of a longer one, so it may begin or end
 * inside a secret.
 */
export type Redact = (text: string, part?: 'whole' | 'piece') => string;

const MASK = '[secret]';
/** Shorter ends of a secret tell nothing, and would mask the ends of ordinary words. */
const SHORTEST_FRAGMENT = 4;
/** Where a tool left something out: `[… 12 bytes left out …]`, or a bare ellipsis. */
const GAP = /(\[?…(?:[^\n…]{0,200}…\])?)/;

/**
 * Masks secrets by value: as they are, as a JSON string, URL-encoded, and in base64, also inside a longer encoded text. Of
 * one that was cut, what is left of it at the cut.
 * @param secrets values of 8 characters or more; each line of one with several lines counts by itself too.
 */
export function createRedactor(secrets: readonly string[]): Redact {
  // Longer ones first, so that one secret inside another leaves nothing behind.
  const forms = [...new Set(secrets.flatMap(partsOf).flatMap(formsOf))].sort((a, b) => b.length - a.length);
  return (text, part = 'whole') => {
    if (forms.length === 0) return text;
    const masked = forms.reduce((rest, form) => rest.split(form).join(MASK), text);
    // Even places are text, odd ones are gaps.
    const pieces = masked.split(GAP);
    return pieces
      .map((piece, index) => {
        if (index % 2 === 1) return piece;
        const isLast = index === pieces.length - 1;
        return maskEnds(piece, forms, { start: index > 0 || part === 'piece', end: !isLast || part === 'piece' });
      })
      .join('');
  };
}

/** A key of many lines is shown line by line, with numbers or indentation between. */
function partsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const long = lines.length === 1 ? [] : lines.filter((line) => line.length >= 16 && !line.startsWith('-----'));
  return secret === '' ? [] : [secret, ...long];
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const base64 = [bytes.toString('base64'), ...[0, 1, 2].map((offset) => innerBase64(bytes, offset))];
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeUrl(secret),
    encodeUrl(secret).replaceAll('%20', '+'),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
  ];
}

/** Half a surrogate pair cannot be encoded. */
function encodeUrl(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The characters that the bytes alone decide when `offset` bytes (modulo 3) stand before them in what is encoded. */
function innerBase64(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function maskEnds(
  text: string,
  forms: readonly string[],
  at: { readonly start: boolean; readonly end: boolean },
): string {
  let inner = text.trim();
  // A mark of what was left out stands on a line of its own.
  const before = text.slice(0, text.length - text.trimStart().length);
  const after = inner === '' ? '' : text.slice(text.trimEnd().length);
  const tail = at.start ? longest(forms, (form, length) => inner.startsWith(form.slice(-length))) : 0;
  if (tail > 0) inner = MASK + inner.slice(tail);
  const head = at.end ? longest(forms, (form, length) => inner.endsWith(form.slice(0, length))) : 0;
  return before + (head > 0 ? inner.slice(0, -head) + MASK : inner) + after;
}

/** The greatest length, short of a whole form, for which some form matches; 0 for none. */
function longest(forms: readonly string[], matches: (form: string, length: number) => boolean): number {
  let best = 0;
  for (const form of forms) {
    for (let length = form.length - 1; length > best && length >= SHORTEST_FRAGMENT; length -= 1) {
      if (matches(form, length)) best = length;
    }
  }
  return best;
}
