/** One argument of a command line as a shell reads it back, in quotes only where it needs them. */
export function shellWord(text: string): string {
  return /^[\w.,:@/+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
