/**
 * All steps of a workflow, page by page. The stream renews those of one page; of a larger workflow all are read again from time to
 * time.
 */
import type { Items } from '../../api/contract.ts'
import { request } from '../../api/request.ts'
import type { StepView } from '../../api/run-contract.ts'
import { useData } from '../../api/use-data.ts'
import { stepsOf } from '../../live/apply-frames.ts'

const perPage = 1_000
const pagesMax = 5

/** `total`: as many as the workflow has; undefined: not known yet. */
export function useSteps(id: string, total: number | undefined): readonly StepView[] | undefined {
  const isLarge = (total ?? 0) > perPage
  const path = stepsOf(id)
  return useData<Items<StepView>>(path, {
    ...(isLarge ? { everyMs: 10_000 } : { topic: `workflow:${id}`, everyMs: 2_000 }),
    read: (signal) => allSteps(path, signal),
  }).data?.items
}

async function allSteps(path: string, signal: AbortSignal): Promise<Items<StepView>> {
  const items: StepView[] = []
  let next: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const after = next === undefined ? '' : `&after=${next}`
    const found: Items<StepView> = await request('GET', `${path}${after}`, { signal })
    items.push(...found.items)
    next = found.next
    if (next === undefined) break
  }
  return { items }
}
