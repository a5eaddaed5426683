import { task } from '@q/task'

export const echo = task((payload: unknown) => payload)
