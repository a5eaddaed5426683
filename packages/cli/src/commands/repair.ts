/** q repair */
import { Command } from 'commander'
import { exitCodes } from '@q/runner/problem'
import type { Finding, Store, WorkflowId } from '@q/store'
import { session, withStore } from '../session.ts'

interface Options {
  readonly json?: true
}

/** Looked at by one statement: a workflow may have many steps. */
const workflowsMax = 100

export function repairCommand(): Command {
  return new Command('repair')
    .description('heal workflows that contradict themselves, after changes by hand or a restored backup')
    .option('--json', 'print { "healed": [{ workflowId, fault, runId }] }')
    .action(async (options: Options) => {
      await session(options, async ({ url }) => {
        const healed = await withStore(url, repairAll)
        if (options.json === true) console.log(JSON.stringify({ healed }))
        else
          console.log(
            healed.length === 0 ? 'Nothing to do: no workflow contradicts itself.' : healed.map(lineOf).join('\n'),
          )
        return exitCodes.ok
      })
    })
}

/** All that are going on. A replica does the same from time to time. */
async function repairAll(store: Store): Promise<Finding[]> {
  const all: Finding[] = []
  let after: WorkflowId | undefined
  do {
    const { healed, next } = await store.repairWorkflows({ limit: workflowsMax, ...(after !== undefined && { after }) })
    all.push(...healed)
    after = next
  } while (after !== undefined)
  return all
}

function lineOf({ workflowId, fault, runId }: Finding): string {
  return `workflow ${workflowId}${runId === null ? '' : `, run ${runId}`}: ${fault}, healed`
}
