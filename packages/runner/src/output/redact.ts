/**
 * Whatever is about to be printed loses the passwords of its URLs, except that of our own example of one. Applied to
 * final texts: an error of a driver, of a task or of a library three levels down may quote a URL in any field. Up to the
 * last @ before a space or a quotation mark, because passwords contain what they like; in JSON such a mark is escaped.
 * A word is looked at once, from its beginning: a long one must not take longer by its square.
 */
export function redact(text: string): string {
  return text.replaceAll(/(\b\w+:\/\/[^:/\s"]*:)(?!password@host)(?:[^\s"\\]|\\.)*@/g, '$1***@')
}
