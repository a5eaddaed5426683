/** q repair */
import type { Command } from 'commander'
import type { Inconsistency, WorkflowId } from '@q/store'
import { audited } from '../frame/audited.ts'
import { newCommand, operate, type CommonOptions, type CommandContext } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'

/** The number of workflows per statement: a workflow may have many steps. */
const workflowsMax = 100

export function repairCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'repair',
    summary: 'repair workflows whose rows contradict each other, after manual changes or a restored backup',
    examples: [
      ['q repair', 'repairs every live workflow that needs it'],
      ['q repair --json', 'the findings as data'],
    ],
    json: '{ healed: [{ workflowId, rootId, kind, runId }] }',
  }).action(async (options: CommonOptions) => {
    await operate(terminal, options, async (context) => {
      const repaired = await audited(context, {
        what: 'repair',
        subject: 'workflows',
        act: () => repairAll(context),
        answerOf: (found) => `repaired ${found.length}`,
      })
      context.answer({ healed: repaired }, () =>
        repaired.length === 0 ? 'Nothing to do: no live workflow is inconsistent.' : repaired.map(lineOf).join('\n'),
      )
    })
  })
}

/** Repairs all live workflows. Replicas do the same periodically. */
async function repairAll({ store }: CommandContext): Promise<Inconsistency[]> {
  const all: Inconsistency[] = []
  let after: WorkflowId | undefined
  do {
    const { repaired, next } = await store.repairWorkflows({
      limit: workflowsMax,
      ...(after !== undefined && { after }),
    })
    all.push(...repaired)
    after = next
  } while (after !== undefined)
  return all
}

function lineOf({ workflowId, kind, runId }: Inconsistency): string {
  return `workflow ${workflowId}${runId === null ? '' : `, run ${runId}`}: ${kind}, repaired`
}
