/**
 * Text that jsonb holds. PostgreSQL refuses NUL (22P05) and half of a surrogate pair (22P02); every other character,
 * control characters and noncharacters among them, comes back as it was.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** The same text, if it can be; otherwise with U+FFFD for each character that cannot. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}
