/**
 * An error in words that are never empty. A host with several addresses (localhost, on most machines) fails with an
 * error that carries one for each address and says nothing itself.
 */
export function errorWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.message !== '') return error.message
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(errorWords).join('; ')
  return error.name
}
