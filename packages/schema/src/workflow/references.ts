/** The references of a step to results of other steps, which make those steps its parents. */
import type { Condition, ValueRef, StepPlan, Template } from './plan.ts'

/** Returns the references in its payload, its list and its input; not those of its compensation, which runs after all steps. */
function referencesOf(step: StepPlan): readonly ValueRef[] {
  switch (step.kind) {
    case 'task':
      return templateReferences(step.payload)
    case 'map':
      return [...templateReferences(step.payload), step.over]
    case 'workflow':
      return templateReferences(step.input)
  }
}

export function templateReferences(template: Template): readonly ValueRef[] {
  return Object.values(template.holes)
}

export function conditionReferences(condition: Condition): readonly ValueRef[] {
  if ('value' in condition) return [condition.value]
  if ('all' in condition) return condition.all.flatMap(conditionReferences)
  if ('any' in condition) return condition.any.flatMap(conditionReferences)
  return 'not' in condition ? conditionReferences(condition.not) : []
}

/** Returns the steps whose end the condition tests. */
export function conditionSteps(condition: Condition): readonly string[] {
  if ('step' in condition) return [condition.step]
  if ('all' in condition) return condition.all.flatMap(conditionSteps)
  if ('any' in condition) return condition.any.flatMap(conditionSteps)
  if ('not' in condition) return conditionSteps(condition.not)
  return condition.value.from === 'step' ? [condition.value.step] : []
}

/** Returns the names of its parents, each once. */
export function parentsOf(step: StepPlan): readonly string[] {
  const named = referencesOf(step).flatMap((ref) => (ref.from === 'step' ? ref.step : []))
  const asked = step.when === undefined ? [] : conditionSteps(step.when)
  return [...new Set([...named, ...asked, ...(step.after ?? [])])]
}

/** Returns the names of all tasks that a plan can start, including those of sub-workflows and compensations. */
export function tasksOfPlan(steps: readonly StepPlan[]): readonly string[] {
  const names = steps.flatMap((step) => {
    const undo = step.compensate === undefined ? [] : [step.compensate.task]
    return step.kind === 'workflow' ? [...tasksOfPlan(step.workflow.steps), ...undo] : [step.task, ...undo]
  })
  return [...new Set(names)]
}
