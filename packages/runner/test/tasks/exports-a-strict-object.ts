/** Exports a task, and an object that refuses to be read. */
import { task } from '@q/task'

export const settings: object = new Proxy({}, { get: (_, name) => raise(`no such setting: ${String(name)}`) })
export const echo = task((payload: unknown) => payload)

function raise(message: string): never {
  throw new Error(message)
}
