/** A newer release of by-the-clock.ts: nobody wants it often any more. */
import { task } from '@q/task'

export const often = task(({ say }: { say: string }) => ({ said: say }))
