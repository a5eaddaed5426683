/**
 * Makes users' text safe for a terminal: control characters in it could move the cursor, change colours or hide earlier
 * output.
 */

/** Replaces each sequence of control characters by a space; line breaks stay. */
export function printable(text: string): string {
  return text.split('\n').map(oneLine).join('\n')
}

/** Does the same, and also replaces line breaks. */
export function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
