/** Controls (but tab and newline), invisible format characters that change how text reads, and lone surrogates. */
const HIDDEN = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]|\p{Surrogate}/gu;

/**
 * Makes control characters visible as escapes, so that text from outside drives no terminal and hides nothing. A
 * carriage return before a newline is dropped: it is a line ending.
 */
export function toVisibleText(text: string): string {
  return text.replace(/\r+\n/gu, '\n').replace(HIDDEN, (character) => {
    if (character === '\n' || character === '\t') return character;
    if (character === '\r') return '\\r';
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
