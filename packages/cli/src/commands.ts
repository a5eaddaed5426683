/** Every command, in the groups and the order in which the help shows them. */
import type { Command } from 'commander'
import type { Terminal } from './frame/terminal.ts'
import { actionsCommand } from './commands/actions.ts'
import { againCommand } from './commands/again.ts'
import { cancelCommand } from './commands/cancel.ts'
import { completionCommand } from './commands/completion.ts'
import { dbCommand } from './commands/db.ts'
import { deliveriesCommand } from './commands/deliveries.ts'
import { destinationsCommand } from './commands/destinations.ts'
import { doctorCommand } from './commands/doctor.ts'
import { drainCommand } from './commands/drain.ts'
import { enqueueCommand } from './commands/enqueue.ts'
import { errorsCommand } from './commands/errors.ts'
import { logsCommand } from './commands/logs.ts'
import { memoryCommand } from './commands/memory.ts'
import { migrateCommand } from './commands/migrate.ts'
import { nodeCommand } from './commands/node.ts'
import { nodesCommand } from './commands/nodes.ts'
import { openCommand } from './commands/open.ts'
import { operationsCommand } from './commands/operations.ts'
import { queuesCommand } from './commands/queues.ts'
import { recoverCommand } from './commands/recover.ts'
import { recoveriesCommand } from './commands/recoveries.ts'
import { repairCommand } from './commands/repair.ts'
import { retryCommand } from './commands/retry.ts'
import { reviewCommand } from './commands/review.ts'
import { runsCommand } from './commands/runs.ts'
import { schedulesCommand } from './commands/schedules.ts'
import { serveCommand } from './commands/serve.ts'
import { showCommand } from './commands/show.ts'
import { startCommand } from './commands/start.ts'
import { statusCommand } from './commands/status.ts'
import { tokenCommand } from './commands/token.ts'
import { topCommand } from './commands/top.ts'
import { undrainCommand } from './commands/undrain.ts'
import { whyCommand } from './commands/why.ts'
import { workflowsCommand } from './commands/workflows.ts'

interface CommandGroup {
  readonly group: string
  readonly commands: readonly ((terminal: Terminal) => Command)[]
}

export const commands: readonly CommandGroup[] = [
  { group: 'Work:', commands: [startCommand, enqueueCommand] },
  {
    group: 'Look:',
    commands: [statusCommand, topCommand, runsCommand, showCommand, whyCommand, logsCommand, errorsCommand],
  },
  { group: 'Act on runs:', commands: [cancelCommand, retryCommand, againCommand, operationsCommand] },
  { group: 'Nodes:', commands: [nodesCommand, nodeCommand, drainCommand, undrainCommand] },
  { group: 'Recovery:', commands: [recoverCommand, recoveriesCommand, reviewCommand, repairCommand] },
  {
    group: 'Queues, schedules, workflows:',
    commands: [queuesCommand, schedulesCommand, workflowsCommand],
  },
  { group: 'Reports:', commands: [destinationsCommand, deliveriesCommand, memoryCommand] },
  { group: 'Page:', commands: [openCommand, serveCommand, tokenCommand] },
  { group: 'Installation:', commands: [doctorCommand, migrateCommand, dbCommand, actionsCommand, completionCommand] },
]
