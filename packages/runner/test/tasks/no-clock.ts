/** A newer release of by-the-clock.ts, without the frequent schedule. */
import { task } from '@q/task'

export const often = task(({ say }: { say: string }) => ({ said: say }))
