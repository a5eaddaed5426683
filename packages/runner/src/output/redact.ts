/**
 * Removes the passwords of URLs from text that is about to be printed, except the one of our own example URL. It applies to
 * final texts, because an error of a driver, task or library may quote a URL in any field. A password reaches to the last @
 * before a space or a quotation mark, because it may contain any other character; in JSON such a mark is escaped. The
 * pattern reads each word once, from its beginning, so the time is linear in the length of a word.
 */
export function redact(text: string): string {
  return text.replaceAll(/(\b\w+:\/\/[^:/\s"]*:)(?!password@host)(?:[^\s"\\]|\\.)*@/g, '$1***@')
}
