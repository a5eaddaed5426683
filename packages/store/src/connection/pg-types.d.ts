/** `pg-types` describes its registry alone, not the list of parsers that fills it. */
declare module 'pg-types/lib/textParsers.js' {
  const textParsers: { init(register: (oid: number, parse: (text: string) => unknown) => void): void }
  export default textParsers
}
