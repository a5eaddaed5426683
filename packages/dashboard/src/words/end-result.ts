/** The object that the database keeps as the result of every end but success. */
export interface EndResult {
  readonly code: string
  readonly detail: string
  readonly stack: string | undefined
  /** The step whose end decided that of its workflow. */
  readonly step: string | undefined
}

/** Undefined: the result is not such an object. */
export function endResultOf(result: unknown): EndResult | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  const textOf = (member: string) => {
    const value: unknown = Reflect.get(result, member)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const code = textOf('code')
  return code === undefined
    ? undefined
    : { code, detail: textOf('detail') ?? '', stack: textOf('stack'), step: textOf('step') }
}
