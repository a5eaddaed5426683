import { task } from '@q/task'

export const often = task({ every: '1s', payload: { say: 'tick' } }, ({ say }: { say: string }) => ({ said: say }))
