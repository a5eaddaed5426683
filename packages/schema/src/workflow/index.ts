/** Workflows as data. Imports nothing of the database. */
export { checkPlan, planLimits, type CheckedPlan } from './check-plan.ts'
export { conditionHoles, conditionSteps, holesOf, parentsOf, tasksOfPlan, templateHoles } from './holes.ts'
export type {
  Compensation,
  Condition,
  Hole,
  Join,
  MapStepPlan,
  MissingResult,
  StepOptions,
  StepPlan,
  TaskStepPlan,
  Template,
  ValueTest,
  WorkflowPlan,
  WorkflowStepPlan,
} from './plan.ts'
export { filledText, fillSome, holds, partsOf, valueAt, type Evidence } from './template.ts'
