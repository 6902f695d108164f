import { randomBytes } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** 12 random characters of base32 (60 bits): ids of messages and of results. */
export function randomId(): string {
  return [...randomBytes(12)].map((byte) => ALPHABET[byte % 32]).join('');
}
