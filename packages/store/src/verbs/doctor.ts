/** The reads and checks of `q doctor`: their contracts. The rules of each verb are in its own file. */
import type { DB } from '@q/schema'
import type { SchemaDrift } from '@q/schema/objects'
import type { Kysely } from 'kysely'
import { dutiesOfDead, type DeadDuty } from '../doctor/duties.ts'
import { inspectRights, type Rights } from '../doctor/rights.ts'
import { inspectServer, type ServerFacts } from '../doctor/server.ts'
import { inspectSnapshots, type SnapshotHolder } from '../doctor/snapshots.ts'
import { inspectTables, type TableHealth } from '../doctor/tables.ts'
import { tryHeartbeat, type TriedHeartbeat } from '../doctor/try-heartbeat.ts'
import { workflowFaults } from '../doctor/workflow-faults.ts'
import type { Inconsistency } from '../workflows/inconsistencies.ts'

export interface DoctorVerbs {
  // ---- Diagnosis

  /**
   * Returns the version, connections, standbys, clock and settings of the server, as far as q depends on them.
   * Changes nothing.
   */
  inspectServer(): Promise<ServerFacts>

  /**
   * Returns the sessions, prepared transactions and replication slots that keep dead rows from being removed.
   * Oldest first, at most ten.
   */
  inspectSnapshots(): Promise<SnapshotHolder[]>

  /**
   * Returns live and dead rows, size, last vacuum and invalid indexes of each table.
   * The numbers are estimates of the server.
   */
  inspectTables(): Promise<TableHealth[]>

  /**
   * Returns what this login may do in schema q.
   * Also names the roles of db/roles.sql that a later migration left without rights.
   */
  inspectRights(): Promise<Rights>

  /**
   * Returns how the schema differs from the one that the migrations of this release create, with the statements that
   * restore it.
   * Empty if it does not differ.
   */
  inspectSchema(): Promise<SchemaDrift[]>

  /**
   * Writes a heartbeat, reads it back and removes it, in one transaction.
   * `trySession(url)` does the same for the session of a replica.
   */
  tryHeartbeat(id: string): Promise<TriedHeartbeat>

  /**
   * Returns duties whose holder is dead while its lease has not expired.
   * Usually there are none.
   */
  dutiesOfDead(): Promise<DeadDuty[]>

  /**
   * Returns live workflows whose rows contradict each other, among the newest 100.
   * Changes nothing.
   */
  workflowFaults(): Promise<Inconsistency[]>
}

export function doctorVerbs(db: Kysely<DB>): DoctorVerbs {
  return {
    inspectServer: () => inspectServer(db),
    inspectSnapshots: () => inspectSnapshots(db),
    inspectTables: () => inspectTables(db),
    inspectRights: () => inspectRights(db),
    inspectSchema: async () => {
      const { migratedObjects, schemaDrift } = await import('@q/schema/objects')
      return schemaDrift(db, migratedObjects)
    },
    tryHeartbeat: (id) => tryHeartbeat(db, id),
    dutiesOfDead: () => dutiesOfDead(db),
    workflowFaults: () => workflowFaults(db),
  }
}
