/** Dependencies of handlers: reads on connections that cannot write, actions on others. */
import type { Store } from '@q/store'
import type { Queue, AnyTasks } from '@q/client'

export interface HandlerDeps {
  readonly reads: Store
  readonly writes: Store
  readonly queue: Queue<AnyTasks>
  readonly version: string
}
