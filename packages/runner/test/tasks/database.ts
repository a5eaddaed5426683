/** Tasks that look for the database they run on. */
import { inspect } from 'node:util'
import { task, type Task, type TaskContext } from '@q/task'

interface DatabaseAccess {
  readonly url: string | null
  readonly env: string[]
  readonly shown: string
}

const look = (_: unknown, ctx: TaskContext): DatabaseAccess => ({
  url: ctx.databaseUrl ?? null,
  env: Object.keys(process.env).filter((name) => /^(PG|DATABASE)/.test(name)),
  shown: inspect(ctx) + JSON.stringify(ctx),
})

export const asks: Task<unknown, DatabaseAccess, never> = task({ database: true }, look)
export const asksNot: Task<unknown, DatabaseAccess, never> = task(look)
export const asksAlone: Task<unknown, DatabaseAccess, never> = task({ database: true, isolation: 'process' }, look)
export const asksNotAlone: Task<unknown, DatabaseAccess, never> = task({ isolation: 'process' }, look)
