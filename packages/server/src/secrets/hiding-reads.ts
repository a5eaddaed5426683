/** The reads of the store for the API, with secrets hidden in every value that users stored. */
import type { Store } from '@q/store'
import type { Secrets } from './secrets.ts'

export function hidingReads(reads: Store, { inText, inValue }: Secrets): Store {
  const textOrNull = (text: string | null) => (text === null ? null : inText(text))
  const workflow = <W extends { readonly input: unknown; readonly result: unknown }>(one: W): W => ({
    ...one,
    input: inValue(one.input),
    result: inValue(one.result),
  })
  const schedule = <S extends { readonly payload: unknown }>(one: S): S => ({ ...one, payload: inValue(one.payload) })
  return {
    ...reads,
    async getTaskRun(id) {
      const detail = await reads.getTaskRun(id)
      if (detail === undefined) return undefined
      const { run } = detail
      return {
        ...detail,
        run: {
          ...run,
          payload: inValue(run.payload),
          result: inValue(run.result),
          checkpoint: inValue(run.checkpoint),
        },
        payloadText: inText(detail.payloadText),
        resultText: textOrNull(detail.resultText),
        checkpointText: textOrNull(detail.checkpointText),
      }
    },
    async listTaskRuns(filter, page) {
      const { runs, ...rest } = await reads.listTaskRuns(filter, page)
      return { ...rest, runs: runs.map((run) => ({ ...run, resultText: textOrNull(run.resultText) })) }
    },
    async runSummaries(ids) {
      const runs = await reads.runSummaries(ids)
      return runs.map((run) => ({ ...run, resultText: textOrNull(run.resultText) }))
    },
    async readTaskLogs(id, request) {
      const { lines, ...rest } = await reads.readTaskLogs(id, request)
      return { ...rest, lines: lines.map((line) => ({ ...line, facts: inValue(line.facts) })) }
    },
    getWorkflows: async (...args) => (await reads.getWorkflows(...args)).map(workflow),
    async listWorkflows(request) {
      const { items, ...rest } = await reads.listWorkflows(request)
      return { ...rest, items: items.map(workflow) }
    },
    async listActions(request) {
      const { items, ...rest } = await reads.listActions(request)
      return { ...rest, items: items.map((action) => ({ ...action, detail: inValue(action.detail) })) }
    },
    listSchedules: async () => (await reads.listSchedules()).map(schedule),
    async getSchedule(name) {
      const one = await reads.getSchedule(name)
      return one === undefined ? undefined : schedule(one)
    },
  }
}
