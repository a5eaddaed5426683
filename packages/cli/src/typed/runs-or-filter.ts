/** Requires either ids of runs or a filter: with both or neither, a command could change too much. */
import { ExplainedError } from '@q/schema'
import { isFiltered, type FilterOptions } from './run-filter.ts'

export function requireOneKind(command: string, ids: readonly string[], options: FilterOptions): void {
  if (ids.length > 0 !== isFiltered(options)) return
  const what =
    ids.length > 0 ? 'Runs were named, and a filter was given.' : 'No run was named, and no filter was given.'
  throw new ExplainedError({
    code: 'RUNS_NOT_NAMED',
    what: `${what} Nothing was changed.`,
    why: `q ${command} takes ids of runs, or a filter, and not both.`,
    fix: `q ${command} 123, or q ${command} --task resize --ended-since 1h`,
  })
}
