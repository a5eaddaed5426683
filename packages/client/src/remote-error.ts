/** Errors that happened in a worker, made errors again: what a run's result keeps of them, which may be anything. */

/** The error of that name, message, code and stack, with its own causes; undefined: there is none. */
export function remoteError(data: unknown): Error | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const { name, message, code, stack, cause, errors } = data as Readonly<Record<string, unknown>>
  const options = cause === undefined ? {} : { cause: remoteError(cause) }
  const text = typeof message === 'string' ? message : ''
  const error = Array.isArray(errors)
    ? new AggregateError(errors.map(remoteError), text, options)
    : new Error(text, options)
  const own = { name, code, stack }
  for (const [key, value] of Object.entries(own))
    if (typeof value === 'string') Object.defineProperty(error, key, { value, configurable: true, writable: true })
  return error
}
