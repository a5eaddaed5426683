/** Creates a check from items of `attention()`: the worst item is the finding. */
import type { Attention } from '@q/store'
import { ok, type Check, type Level } from './check.ts'

const levels: Readonly<Record<Attention['level'], Level>> = { bad: 'fail', warn: 'warn', note: 'note' }

export function byAttention(id: string, kinds: readonly string[], fine: string): Check {
  return {
    id,
    async look({ attention }) {
      const items = (await attention()).items.filter(({ kind }) => kinds.includes(kind))
      const [worst, ...others] = items
      if (worst === undefined) return ok(fine)
      const more = others.length === 0 ? '' : ` And ${others.length} more.`
      return {
        level: levels[worst.level],
        what: `${worst.sentence}${more}`,
        why: worst.detail ?? '',
        fix: worst.command,
      }
    },
  }
}
