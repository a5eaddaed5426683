/** Parses JSON text, and refuses an integer that would lose digits: a number of JavaScript is exact only up to 2^53. */

export class InexactInteger extends Error {
  /** As it is written in the text. */
  readonly digits: string

  constructor(digits: string) {
    super(`has the integer ${digits}, which loses digits: send it as text`)
    this.digits = digits
  }
}

/** Throws `InexactInteger`, or the SyntaxError of `JSON.parse`. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, exact)
}

function exact(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const { source = '' } = context ?? {}
  // A number with an exponent is not meant digit by digit: 1e300 is written as it was read.
  if (typeof value !== 'number' || value === 0 || !/^-?\d+$/.test(source) || String(value) === source) return value
  throw new InexactInteger(source)
}
