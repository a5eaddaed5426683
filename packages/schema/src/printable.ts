/**
 * Text that users wrote, safe to show on a terminal: control characters in it could move the cursor, change colours or
 * hide what was printed before.
 */

/** The text with a space for each sequence of control characters; line breaks stay. */
export function printable(text: string): string {
  return text.split('\n').map(oneLine).join('\n')
}

/** The same, with line breaks replaced too. */
export function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
