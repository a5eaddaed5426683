/**
 * The reads of the store for the API, with secrets hidden in every value that users stored. Filters of lists do not find
 * hidden values either. A preview counts the runs that the operation will change, so it finds them.
 */
import type { RunFilter, Store } from '@q/store'
import { hidingConditions } from './hiding-conditions.ts'
import type { Secrets } from './secrets.ts'

export function hidingReads(reads: Store, { inText, inValue, inCondition, parts }: Secrets): Store {
  const textOrNull = (text: string | null) => (text === null ? null : inText(text))
  const workflow = <W extends { readonly input: unknown; readonly result: unknown }>(one: W): W => ({
    ...one,
    input: inValue(one.input),
    result: inValue(one.result),
  })
  const schedule = <S extends { readonly payload: unknown }>(one: S): S => ({ ...one, payload: inValue(one.payload) })
  const summary = <R extends { readonly resultText: string | null }>(run: R): R => ({
    ...run,
    resultText: textOrNull(run.resultText),
  })
  const visible = (filter: RunFilter = {}): RunFilter =>
    filter.payload === undefined || parts.length === 0 ? filter : { ...filter, hiddenMembers: parts }
  const { inOperation, inDetail } = hidingConditions({ inValue, inCondition })
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
      const { runs, ...rest } = await reads.listTaskRuns(visible(filter), page)
      return { ...rest, runs: runs.map(summary) }
    },
    countTaskRuns: (filter, request) => reads.countTaskRuns(visible(filter), request),
    runSummaries: async (ids) => (await reads.runSummaries(ids)).map(summary),
    async previewOperation(...args) {
      const { samples, ...rest } = await reads.previewOperation(...args)
      return { ...rest, samples: samples.map(summary) }
    },
    async getOperation(id) {
      const one = await reads.getOperation(id)
      return one === undefined ? undefined : inOperation(one)
    },
    async listOperations(request) {
      const { items, ...rest } = await reads.listOperations(request)
      return { ...rest, items: items.map(inOperation) }
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
      return { ...rest, items: items.map((action) => ({ ...action, detail: inDetail(action.detail) })) }
    },
    listSchedules: async () => (await reads.listSchedules()).map(schedule),
    async getSchedule(name) {
      const one = await reads.getSchedule(name)
      return one === undefined ? undefined : schedule(one)
    },
  }
}
