/**
 * What can be seen in a graph before it runs: which results are sure to be there, and which questions have one answer.
 *
 * A step that fails fails its workflow, unless it has dependents and all of them do without it. A step is skipped, which
 * is no failure, if its condition does not hold or if too many of its parents were skipped. Where an output points at such
 * a step, its author must have said so (`orMissing`): then the type of the output is true.
 */
import { parentsOf, type Condition, type StepPlan } from '@q/schema/workflow'
import type { Origin } from './placeholder.ts'

/** One sentence for each step whose result the output takes for granted. `order`: parents before children. */
export function uncertainOutputs(order: readonly StepPlan[], shown: readonly Origin[]): string[] {
  const mayBeMissing = new Set([...skippable(order), ...dispensable(order)])
  const named = shown.flatMap(({ hole, orMissing }) => (hole.from === 'step' && !orMissing ? hole.step : []))
  return [...new Set(named)]
    .filter((name) => mayBeMissing.has(name))
    .map(
      (name) =>
        `its output needs step ${JSON.stringify(name)}, which may not succeed though the workflow does: use orMissing()`,
    )
}

/** One sentence for each step that asks whether a parent failed, and starts only if it has succeeded. */
export function futileQuestions(order: readonly StepPlan[]): string[] {
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

/** How many parents it must see succeed. */
function neededBy({ allowFailed, join }: StepPlan, parents: number): number {
  if (allowFailed === true) return 0
  if (join?.kind === 'any') return 1
  return join?.kind === 'quorum' ? join.of : parents
}

/** Those whose failure all their dependents can do without. */
function dispensable(order: readonly StepPlan[]): ReadonlySet<string> {
  const insisted = new Set<string>()
  const depended = new Set<string>()
  for (const step of order) {
    const parents = parentsOf(step)
    for (const parent of parents) depended.add(parent)
    if (neededBy(step, parents.length) === parents.length) for (const parent of parents) insisted.add(parent)
  }
  return depended.difference(insisted)
}
