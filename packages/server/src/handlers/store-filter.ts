/** Converts the filter of a request to the store's. A node may be given by its name. */
import type { Store } from '@q/store'
import type { RunFilter } from '../api/run-filter.ts'
import { given } from './given.ts'

type StoreFilter = NonNullable<Parameters<Store['listTaskRuns']>[0]>

export async function storeFilter(reads: Store, filter: RunFilter): Promise<StoreFilter> {
  const { node, since, before, endedSince, endedBefore, ...same } = filter
  return {
    ...given(same),
    ...(node === undefined ? {} : { replica: await idOf(reads, node) }),
    ...(since === undefined ? {} : { createdAfter: new Date(since) }),
    ...(before === undefined ? {} : { createdBefore: new Date(before) }),
    ...(endedSince === undefined ? {} : { endedAfter: new Date(endedSince) }),
    ...(endedBefore === undefined ? {} : { endedBefore: new Date(endedBefore) }),
  }
}

/** A node whose row was removed can still be found by its full id. */
async function idOf(reads: Store, text: string): Promise<string> {
  const [node] = await reads.findNode(text)
  return node === undefined ? text : node.id
}
