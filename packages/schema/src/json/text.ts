/**
 * Text that jsonb can store. PostgreSQL refuses NUL (22P05) and half of a surrogate pair (22P02); every other character
 * survives unchanged, including control characters and noncharacters.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Returns the text, with U+FFFD in place of each character that jsonb cannot store. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}
