/**
 * Everything that can be said against a plan before anything is written: names, the graph, joins, holes. Problems are
 * told all at once, up to ten; a cycle by its path.
 */
import { checkJson, problemsText } from '../json/index.ts'
import { conditionHoles, parentsOf, templateHoles } from './holes.ts'
import { orderOf } from './order.ts'
import type { Hole, StepPlan, Template, WorkflowPlan } from './plan.ts'
import { partsOf, valueAt } from './template.ts'

export const planLimits = { stepsMax: 100_000, depthMax: 8, nameCharsMax: 200, problemsMax: 10 } as const

export type CheckedPlan =
  /** `order`: parents before children. */
  | { readonly ok: true; readonly order: readonly StepPlan[] }
  | { readonly ok: false; readonly problems: readonly string[] }

export function checkPlan(plan: WorkflowPlan): CheckedPlan {
  const problems: string[] = []
  const total = stepsIn(plan)
  if (total > planLimits.stepsMax)
    return { ok: false, problems: [`it has ${total} steps; at most ${planLimits.stepsMax} are allowed`] }
  const order = checkOne(plan, '', 1, (problem) => problems.push(problem))
  return problems.length === 0
    ? { ok: true, order }
    : { ok: false, problems: problems.slice(0, planLimits.problemsMax) }
}

function stepsIn(plan: WorkflowPlan): number {
  return plan.steps.reduce((sum, step) => sum + 1 + (step.kind === 'workflow' ? stepsIn(step.workflow) : 0), 0)
}

type Tell = (problem: string) => void

function checkOne(plan: WorkflowPlan, where: string, depth: number, tell: Tell): readonly StepPlan[] {
  const said: Tell = (problem) => tell(`${where}${problem}`)
  if (depth > planLimits.depthMax) said(`workflows are inside of each other more than ${planLimits.depthMax} deep`)
  if (!isName(plan.name)) said('the name of the workflow is empty, too long or has a control character')
  if (plan.steps.length === 0) said('it has no steps')
  const byName = new Map(plan.steps.map((step) => [step.name, step]))
  const seen = new Set<string>()
  for (const step of plan.steps) {
    if (seen.has(step.name)) said(`two steps are named ${quoted(step.name)}`)
    seen.add(step.name)
    checkStep(step, byName, (problem) => said(`step ${quoted(step.name)}: ${problem}`))
    if (step.kind === 'workflow' && depth <= planLimits.depthMax) {
      checkOne(step.workflow, `${where}step ${quoted(step.name)}: `, depth + 1, tell)
    }
  }
  if (plan.output !== undefined) checkTemplate(plan.output, 'the output', byName, [], said)
  return inOrder(plan, byName, said)
}

function inOrder(plan: WorkflowPlan, byName: ReadonlyMap<string, StepPlan>, tell: Tell): readonly StepPlan[] {
  const parents = new Map(
    [...byName].map(([name, step]) => [name, parentsOf(step).filter((parent) => byName.has(parent))]),
  )
  const ordered = orderOf({ names: [...byName.keys()], parents })
  if ('order' in ordered) return ordered.order.flatMap((name) => byName.get(name) ?? [])
  const { cycle } = ordered
  tell(
    cycle.length === 2
      ? `step ${quoted(cycle[0] ?? '')} waits for itself`
      : `its steps wait for each other: ${cycle.join(' → ')}`,
  )
  return plan.steps
}

function checkStep(step: StepPlan, byName: ReadonlyMap<string, StepPlan>, tell: Tell): void {
  if (!isName(step.name) || reserved.test(step.name))
    tell('its name is empty, too long, has a control character, or ends like "[0]" or " (undo)"')
  const parents = parentsOf(step)
  const unknown = parents.filter((parent) => !byName.has(parent))
  if (unknown.length > 0) tell(`it names ${unknown.map(quoted).join(', ')}, and there is no such step`)
  checkJoin(step, parents.length, tell)
  if (step.kind === 'workflow') checkTemplate(step.input, 'its input', byName, [], tell)
  else checkTemplate(step.payload, 'its payload', byName, step.kind === 'map' ? ['item'] : [], tell)
  if (step.kind === 'map') checkMap(step, tell)
  if (step.compensate !== undefined) checkTemplate(step.compensate.payload, 'its compensation', byName, [], tell)
  if (step.when !== undefined && conditionHoles(step.when).some(({ from }) => from === 'item'))
    tell('its condition asks for an item')
}

function checkJoin({ join }: StepPlan, parents: number, tell: Tell): void {
  if (join === undefined || join.kind === 'all') return
  if (parents === 0) return tell(`it joins by ${join.kind} and has no parents`)
  if (join.kind === 'any') return
  const { of } = join
  if (!Number.isInteger(of) || of < 1 || of > parents) tell(`a quorum of ${of} cannot be reached by ${parents} parents`)
}

function checkMap({ over, parallel }: Extract<StepPlan, { kind: 'map' }>, tell: Tell): void {
  if (over.from === 'item') tell('it maps over its own item')
  if (parallel !== undefined && (!Number.isInteger(parallel) || parallel < 1))
    tell('parallel is not a whole number above 0')
}

function checkTemplate(
  template: Template,
  what: string,
  byName: ReadonlyMap<string, StepPlan>,
  also: readonly Hole['from'][],
  tell: Tell,
): void {
  const json = checkJson(template.value ?? null)
  if (!json.ok) tell(`${what}: ${problemsText(json.problems)}`)
  const pointers = Object.keys(template.holes).toSorted()
  for (const [index, pointer] of pointers.entries()) {
    const before = pointers[index - 1]
    if (!hasPlace(template.value, pointer)) tell(`${what} has no place ${quoted(pointer)} for a result`)
    if (before !== undefined && pointer.startsWith(`${before}/`))
      tell(`${what} has a hole ${quoted(pointer)} inside of another`)
  }
  for (const hole of templateHoles(template)) {
    if (hole.from === 'item' && !also.includes('item')) tell(`${what} asks for an item, and it is no map`)
    if (hole.at !== '' && !hole.at.startsWith('/')) tell(`${quoted(hole.at)} is no JSON pointer`)
    if (hole.from === 'step' && !byName.has(hole.step))
      tell(`${what} names ${quoted(hole.step)}, and there is no such step`)
  }
}

function hasPlace(value: unknown, pointer: string): boolean {
  if (pointer === '') return true
  const parts = partsOf(pointer)
  const container = valueAt(value, pointer.slice(0, pointer.lastIndexOf('/')))
  return (
    pointer.startsWith('/') &&
    typeof container === 'object' &&
    container !== null &&
    Object.hasOwn(container, parts.at(-1) ?? '')
  )
}

/** Names that items and compensations get. */
const reserved = /\[\d+\]$| \(undo\)$/

function isName(name: unknown): boolean {
  return (
    typeof name === 'string' &&
    name !== '' &&
    name.length <= planLimits.nameCharsMax &&
    name.isWellFormed() &&
    !/\p{Cc}/u.test(name)
  )
}

function quoted(name: string): string {
  return JSON.stringify(name)
}
