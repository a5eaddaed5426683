/** Dependencies of handlers: reads use read-only connections, actions use others. */
import type { Store } from '@q/store'
import type { Queue, AnyTasks } from '@q/client'

export interface HandlerDeps {
  readonly reads: Store
  readonly writes: Store
  readonly queue: Queue<AnyTasks>
  readonly version: string
}
