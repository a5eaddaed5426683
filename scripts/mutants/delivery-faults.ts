/** Faults in the order, the leases and the exclusiveness of reports to destinations. */
import { storeTest, type Fault } from './fault.ts'

const src = (path: string) => `packages/store/src/deliveries/${path}`
const leases = storeTest('deliveries/leases')

export const deliveryFaults: readonly Fault[] = [
  {
    name: 'newer-report-first',
    why: 'A receiver gets the newer status of a run before the older one.',
    caughtBy: [leases],
    edits: [{ file: src('lease-deliveries.ts'), find: '    AND d.id = oldest.id\n', replace: '' }],
  },
  {
    name: 'lease-never-expires',
    why: 'The reports of a dead sender are never sent.',
    caughtBy: [leases],
    edits: [{ file: src('lease-deliveries.ts'), find: ' OR d.leased_until < clock_timestamp()', replace: '' }],
  },
  {
    name: 'mark-without-lease',
    why: 'A sender that lost its lease decides about reports that another one is sending.',
    caughtBy: [leases],
    edits: [
      {
        file: src('mark-deliveries.ts'),
        find: 'ON d.id = g.id AND d.leased_by = ${holder}::text',
        replace: 'ON d.id = g.id AND ${holder}::text IS NOT NULL',
      },
    ],
  },
  {
    name: 'replaced-report-is-delivered',
    why: 'A heartbeat that replaced the one in flight is never sent.',
    caughtBy: [storeTest('deliveries/heartbeats')],
    edits: [
      { file: src('mark-deliveries.ts'), find: "    WHEN d.revision <> g.revision THEN 'replaced'\n", replace: '' },
    ],
  },
  {
    name: 'redeliver-beside-a-newer-report',
    why: 'An old status that is sent again by command overwrites the newer one that is in flight.',
    caughtBy: [leases],
    edits: [{ file: src('redeliver.ts'), find: ' OR n.leased_until > clock_timestamp()', replace: '' }],
  },
  {
    name: 'memory-file-without-lock',
    why: 'Two senders write one memory file at once, and the server loses updates.',
    caughtBy: ['packages/destinations/test/memory/shared-file.test.ts'],
    edits: [
      {
        file: 'packages/destinations/src/memory/lock-file.ts',
        find: "=== 'EEXIST') return 'exists'",
        replace: "=== 'EEXIST') return 'impossible'",
      },
    ],
  },
]
