/** A module that can be imported only where the secret is. */
import { task } from '@q/task'

if (process.env['PGPASSWORD'] === undefined) throw new Error('PGPASSWORD is not set')

export const needsIt = task((_: unknown) => 'there')
export const needsItAlone = task({ isolation: 'process' }, (_: unknown) => 'there')
