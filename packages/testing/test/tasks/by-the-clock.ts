/** Tasks that are run by the clock. */
import { task } from '@q/task'

export const hourly = task({ every: '1h' }, (_: object) => 'hourly')
export const hourlySkip = task({ every: '1h', missed: 'skip' }, (_: object) => 'hourly')
export const hourlyAll = task({ every: '1h', missed: 'all' }, (_: object) => 'hourly')
export const minutely = task({ every: '1m' }, (_: object) => 'minutely')
export const minutelySkip = task({ every: '1m', missed: 'skip' }, (_: object) => 'minutely')
export const minutelyAll = task({ every: '1m', missed: 'all' }, (_: object) => 'minutely')
/** Has no schedule of its own. */
export const report = task(({ to }: { to?: string }) => to ?? 'all')
