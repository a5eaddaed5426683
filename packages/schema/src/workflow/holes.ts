/** Where the holes of a step are, and so which steps are its parents. */
import type { Condition, Hole, StepPlan, Template } from './plan.ts'

/** Those of its payload, of what it maps over, of its input; not those of its compensation, which comes when all have ended. */
export function holesOf(step: StepPlan): readonly Hole[] {
  switch (step.kind) {
    case 'task':
      return templateHoles(step.payload)
    case 'map':
      return [...templateHoles(step.payload), step.over]
    case 'workflow':
      return templateHoles(step.input)
  }
}

export function templateHoles(template: Template): readonly Hole[] {
  return Object.values(template.holes)
}

export function conditionHoles(condition: Condition): readonly Hole[] {
  if ('value' in condition) return [condition.value]
  if ('all' in condition) return condition.all.flatMap(conditionHoles)
  if ('any' in condition) return condition.any.flatMap(conditionHoles)
  return 'not' in condition ? conditionHoles(condition.not) : []
}

/** Steps whose end it asks for. */
export function conditionSteps(condition: Condition): readonly string[] {
  if ('step' in condition) return [condition.step]
  if ('all' in condition) return condition.all.flatMap(conditionSteps)
  if ('any' in condition) return condition.any.flatMap(conditionSteps)
  if ('not' in condition) return conditionSteps(condition.not)
  return condition.value.from === 'step' ? [condition.value.step] : []
}

/** Names of its parents, each once. */
export function parentsOf(step: StepPlan): readonly string[] {
  const named = holesOf(step).flatMap((hole) => (hole.from === 'step' ? hole.step : []))
  const asked = step.when === undefined ? [] : conditionSteps(step.when)
  return [...new Set([...named, ...asked, ...(step.after ?? [])])]
}

/** Names of all tasks a plan can start, its sub-workflows' and compensations' among them. */
export function tasksOfPlan(steps: readonly StepPlan[]): readonly string[] {
  const names = steps.flatMap((step) => {
    const undo = step.compensate === undefined ? [] : [step.compensate.task]
    return step.kind === 'workflow' ? [...tasksOfPlan(step.workflow.steps), ...undo] : [step.task, ...undo]
  })
  return [...new Set(names)]
}
