/** The chain of steps that decides how long a workflow takes: from the step that ended last, back over the parent that ended last. Pure. */
import type { StepView } from '../../api/run-contract.ts'

export function criticalPath(steps: readonly StepView[], now: number): ReadonlySet<string> {
  const own = steps.filter(({ kind }) => kind !== 'item')
  const byName = new Map(own.map((step) => [step.name, step]))
  const endOf = (step: StepView) =>
    step.finishedAt !== null ? Date.parse(step.finishedAt) : step.startedAt !== null ? now : Number.NEGATIVE_INFINITY
  const latest = (of: readonly StepView[]) =>
    of.filter((step) => endOf(step) > Number.NEGATIVE_INFINITY).toSorted((a, b) => endOf(b) - endOf(a))[0]
  const path = new Set<string>()
  // Every step adds its name, so a cycle, which a workflow cannot have, would end the walk.
  for (let at = latest(own); at !== undefined && !path.has(at.name);) {
    path.add(at.name)
    at = latest(at.parents.flatMap((name) => byName.get(name) ?? []))
  }
  return path
}
