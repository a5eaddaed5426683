/** Wraps a source so that errors of the database are explained: viewers read why their data is old. */
import { explainDatabaseError } from '@q/store'
import type { Source } from './source.ts'

export function explainingSource(source: Source, databaseUrl: string): Source {
  return {
    ...source,
    async look(revision, viewers) {
      try {
        return await source.look(revision, viewers)
      } catch (error) {
        throw await explainDatabaseError(error, databaseUrl)
      }
    },
  }
}
