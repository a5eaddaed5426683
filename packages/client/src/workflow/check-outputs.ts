/**
 * Checks a graph before it runs: which results are certain to exist, and which conditions can never hold.
 *
 * A failed step fails its workflow, unless it has dependents and all of them tolerate the failure. A step is skipped, which
 * is not a failure, if its condition does not hold or too many of its parents were skipped. An output that refers to such a
 * step must use `orMissing`, so that the type of the output is correct.
 */
import { parentsOf, type Condition, type StepPlan } from '@q/schema/workflow'
import type { PlaceholderSource } from './placeholder.ts'

/** One sentence for each step whose result the output requires although it may be missing. `order`: parents before children. */
export function uncertainOutputs(order: readonly StepPlan[], shown: readonly PlaceholderSource[]): string[] {
  const mayBeMissing = new Set([...skippable(order), ...tolerated(order)])
  const named = shown.flatMap(({ ref, orMissing }) => (ref.from === 'step' && !orMissing ? ref.step : []))
  return [...new Set(named)]
    .filter((name) => mayBeMissing.has(name))
    .map(
      (name) =>
        `its output needs step ${JSON.stringify(name)}, which may not succeed though the workflow does: use orMissing()`,
    )
}

/** One sentence for each step whose condition tests for a failed parent although it starts only after a success. */
export function unreachableConditions(order: readonly StepPlan[]): string[] {
  return order.flatMap((step) => {
    const { name, when } = step
    const parents = parentsOf(step).length
    if (when === undefined || neededBy(step, parents) < parents || !asksForFailure(when)) return []
    return `step ${JSON.stringify(name)} asks how a step ended that it insists on: give it allowFailed`
  })
}

function asksForFailure(condition: Condition): boolean {
  if ('all' in condition) return condition.all.some(asksForFailure)
  if ('any' in condition) return condition.any.some(asksForFailure)
  if ('not' in condition) return asksForFailure(condition.not)
  return 'ended' in condition && !condition.ended.includes('SUCCEEDED')
}

function skippable(order: readonly StepPlan[]): ReadonlySet<string> {
  const found = new Set<string>()
  for (const step of order) {
    const parents = parentsOf(step)
    const skipped = parents.filter((parent) => found.has(parent)).length
    if (step.when !== undefined || skipped > parents.length - neededBy(step, parents.length)) found.add(step.name)
  }
  return found
}

/** How many of its parents must succeed before the step starts. */
function neededBy({ allowFailed, join }: StepPlan, parents: number): number {
  if (allowFailed === true) return 0
  if (join?.kind === 'any') return 1
  return join?.kind === 'quorum' ? join.of : parents
}

/** Steps whose failure all of their dependents tolerate. */
function tolerated(order: readonly StepPlan[]): ReadonlySet<string> {
  const insisted = new Set<string>()
  const depended = new Set<string>()
  for (const step of order) {
    const parents = parentsOf(step)
    for (const parent of parents) depended.add(parent)
    if (neededBy(step, parents.length) === parents.length) for (const parent of parents) insisted.add(parent)
  }
  return depended.difference(insisted)
}
