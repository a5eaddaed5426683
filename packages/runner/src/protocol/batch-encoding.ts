/**
 * Runs on their way to a thread, as one flat array: an object per run would cost four times as much to send and receive.
 * The order of the fields is the same on both sides, because both are here.
 */
import type { RunCommand } from './messages.ts'

const fieldsPerRun = 11

export function encodeBatch(commands: readonly RunCommand[]): unknown[] {
  const fields: unknown[] = []
  for (const { seq, fenced, runId, fence, epoch, attempt, task, payload, checkpoint, databaseUrl, trace } of commands)
    fields.push(seq, fenced, runId, fence, epoch, attempt, task, payload, checkpoint, databaseUrl, trace)
  return fields
}

/** Appends the commands to `into`. */
export function decodeBatch(fields: readonly unknown[], into: RunCommand[]): void {
  for (let at = 0; at < fields.length; at += fieldsPerRun) into.push(commandAt(fields, at))
}

function commandAt(fields: readonly unknown[], at: number): RunCommand {
  return {
    seq: fields[at] as number,
    fenced: fields[at + 1] as boolean,
    runId: fields[at + 2] as string,
    fence: fields[at + 3] as number,
    epoch: fields[at + 4] as number,
    attempt: fields[at + 5] as number,
    task: fields[at + 6] as string,
    payload: fields[at + 7] as string,
    checkpoint: fields[at + 8] as string | null,
    databaseUrl: fields[at + 9] as string | undefined,
    trace: fields[at + 10] as string | undefined,
  }
}
