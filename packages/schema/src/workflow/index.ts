/** Workflows as data. Does not import the database. */
export { checkPlan, planLimits, type CheckedPlan } from './check-plan.ts'
export { conditionReferences, conditionSteps, parentsOf, tasksOfPlan } from './references.ts'
export type {
  Compensation,
  Condition,
  ValueRef,
  PlannedJoin,
  MapStepPlan,
  MissingResult,
  StepOptions,
  StepPlan,
  TaskStepPlan,
  Template,
  PlannedTest,
  WorkflowPlan,
  WorkflowStepPlan,
} from './plan.ts'
export { filledText, fillSome, conditionHolds, valueAt, type ConditionInputs } from './template.ts'
