/** Builds Error objects from the errors of a worker, as the result of a run stores them. The data may have any shape. */

/** The error with its name, message, code, stack and causes; undefined if the data is not an error. */
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
