import type { Rule } from './rule.ts'
import type { SourceTree } from './source-tree.ts'

export interface Violation {
  readonly path: string
  readonly line: number
  readonly rule: string
  readonly reason: string
}

export function violations(tree: SourceTree, rules: readonly Rule[]): Violation[] {
  return rules.flatMap(({ rule, reason, find }) => [...find(tree)].map((location) => ({ ...location, rule, reason })))
}
