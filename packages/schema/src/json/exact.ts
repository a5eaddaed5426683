/** Parses JSON text without the loss of digits: a number of JavaScript holds an integer only up to 2^53. */

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
  if (typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)) return value
  throw new InexactInteger(context?.source ?? String(value))
}
