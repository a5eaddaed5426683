/**
 * The message of an error, never empty, with its causes. A host with several addresses (localhost, on most machines) fails
 * with an error without a message that carries one error for each address.
 */
import { causesOf, causesText } from '@q/schema/json'

export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.message !== '') return `${error.message}${causesText(causesOf(error))}`
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(errorMessage).join('; ')
  return `${error.name}${causesText(causesOf(error))}`
}
