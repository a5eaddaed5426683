/**
 * Checks a plan before anything is written: names, the graph, joins, references. It reports all problems at once, up to
 * ten, and a cycle by its path.
 */
import { checkJson, problemsText } from '../json/index.ts'
import { conditionReferences, parentsOf, templateReferences } from './references.ts'
import { orderOf } from './order.ts'
import type { ValueRef, StepPlan, Template, WorkflowPlan } from './plan.ts'
import { pointerParts, valueAt } from './template.ts'

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

const policies: readonly string[] = ['fail', 'pause', 'continue'] satisfies readonly WorkflowPlan['onError'][]

type Report = (problem: string) => void

function checkOne(plan: WorkflowPlan, where: string, depth: number, report: Report): readonly StepPlan[] {
  const said: Report = (problem) => report(`${where}${problem}`)
  if (depth > planLimits.depthMax) said(`workflows are inside of each other more than ${planLimits.depthMax} deep`)
  if (!isName(plan.name)) said('the name of the workflow is empty, too long or has a control character')
  if (plan.onError !== undefined && !policies.includes(plan.onError))
    said(`onError must be one of ${policies.join(', ')}`)
  if (plan.steps.length === 0) said('it has no steps')
  const byName = new Map(plan.steps.map((step) => [step.name, step]))
  const seen = new Set<string>()
  for (const step of plan.steps) {
    if (seen.has(step.name)) said(`two steps are named ${quoted(step.name)}`)
    seen.add(step.name)
    checkStep(step, byName, (problem) => said(`step ${quoted(step.name)}: ${problem}`))
    if (step.kind === 'workflow' && depth <= planLimits.depthMax) {
      checkOne(step.workflow, `${where}step ${quoted(step.name)}: `, depth + 1, report)
    }
  }
  if (plan.output !== undefined) checkTemplate(plan.output, 'the output', byName, [], said)
  return inOrder(plan, byName, said)
}

function inOrder(plan: WorkflowPlan, byName: ReadonlyMap<string, StepPlan>, report: Report): readonly StepPlan[] {
  const parents = new Map(
    [...byName].map(([name, step]) => [name, parentsOf(step).filter((parent) => byName.has(parent))]),
  )
  const ordered = orderOf({ names: [...byName.keys()], parents })
  if ('order' in ordered) return ordered.order.flatMap((name) => byName.get(name) ?? [])
  const { cycle } = ordered
  report(
    cycle.length === 2
      ? `step ${quoted(cycle[0] ?? '')} waits for itself`
      : `its steps wait for each other: ${cycle.join(' → ')}`,
  )
  return plan.steps
}

function checkStep(step: StepPlan, byName: ReadonlyMap<string, StepPlan>, report: Report): void {
  if (!isName(step.name) || reserved.test(step.name))
    report('its name is empty, too long, has a control character, or ends like "[0]" or " (undo)"')
  const parents = parentsOf(step)
  const unknown = parents.filter((parent) => !byName.has(parent))
  if (unknown.length > 0) report(`it names ${unknown.map(quoted).join(', ')}, and there is no such step`)
  checkJoin(step, parents.length, report)
  if (step.kind === 'workflow') checkTemplate(step.input, 'its input', byName, [], report)
  else checkTemplate(step.payload, 'its payload', byName, step.kind === 'map' ? ['item'] : [], report)
  if (step.kind === 'map') checkMap(step, report)
  if (step.compensate !== undefined) checkTemplate(step.compensate.payload, 'its compensation', byName, [], report)
  if (step.when !== undefined && conditionReferences(step.when).some(({ from }) => from === 'item'))
    report('its condition asks for an item')
}

function checkJoin({ join }: StepPlan, parents: number, report: Report): void {
  if (join === undefined || join.kind === 'all') return
  if (parents === 0) return report(`it joins by ${join.kind} and has no parents`)
  if (join.kind === 'any') return
  const { of } = join
  if (!Number.isInteger(of) || of < 1 || of > parents)
    report(`a quorum of ${of} cannot be reached by ${parents} parents`)
}

function checkMap({ over, parallel }: Extract<StepPlan, { kind: 'map' }>, report: Report): void {
  if (over.from === 'item') report('it maps over its own item')
  const { stepsMax } = planLimits
  if (parallel !== undefined && !(Number.isInteger(parallel) && parallel >= 1 && parallel <= stepsMax))
    report(`parallel is not a whole number from 1 to ${stepsMax}`)
}

function checkTemplate(
  template: Template,
  what: string,
  byName: ReadonlyMap<string, StepPlan>,
  also: readonly ValueRef['from'][],
  report: Report,
): void {
  const json = checkJson(template.value ?? null)
  if (!json.ok) report(`${what}: ${problemsText(json.problems)}`)
  const pointers = Object.keys(template.holes).toSorted()
  for (const [index, pointer] of pointers.entries()) {
    const before = pointers[index - 1]
    if (!hasPlace(template.value, pointer)) report(`${what} has no place ${quoted(pointer)} for a result`)
    if (before !== undefined && pointer.startsWith(`${before}/`))
      report(`${what} has a reference at ${quoted(pointer)} inside of another`)
  }
  for (const ref of templateReferences(template)) {
    if (ref.from === 'item' && !also.includes('item')) report(`${what} asks for an item, and it is no map`)
    if (ref.at !== '' && !ref.at.startsWith('/')) report(`${quoted(ref.at)} is no JSON pointer`)
    if (ref.from === 'step' && !byName.has(ref.step))
      report(`${what} names ${quoted(ref.step)}, and there is no such step`)
  }
}

function hasPlace(value: unknown, pointer: string): boolean {
  if (pointer === '') return true
  const parts = pointerParts(pointer)
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
