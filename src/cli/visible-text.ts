// Controls but tab and newline, the marks that reorder text, and those that take no room.
const HIDDEN =
  // eslint-disable-next-line no-control-regex -- making them visible is the purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text that came from outside (a model, a command, a file) as a terminal may get it: nothing in it acts or hides. */
export function visibleText(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same on one line, cut to a width. */
export function visibleLine(text: string, width: number): string {
  return cutLine(visibleText(text).replace(/\s+/g, ' ').trim(), width);
}

/** At most `width` characters, with an ellipsis for what is missing; never half a character. */
export function cutLine(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}
