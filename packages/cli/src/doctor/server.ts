/** Group `server`: version, connections, durability and time limits of the server. */
import { oldestServer } from '@q/store'
import { isLiving } from '../screens/nodes.ts'
import { ok, type Check } from './check.ts'

/** The most connections of one replica, with the default `Q_CONNECTIONS`, and a reserve for people and tools. */
const connectionsPerNode = 7
const connectionsForPeople = 10

const version: Check = {
  id: 'server.version',
  async look({ server }) {
    const facts = await server()
    if (facts.versionNumber >= oldestServer * 10_000) return ok(`PostgreSQL ${facts.version}.`)
    return {
      level: 'fail',
      what: `PostgreSQL ${facts.version} is too old.`,
      why: `q needs PostgreSQL ${oldestServer} or newer.`,
      fix: 'Upgrade the server, or use another one.',
    }
  },
}

const connections: Check = {
  id: 'server.connections',
  async look({ server, nodes }) {
    const { used, max } = (await server()).connections
    const living = (await nodes()).filter(isLiving).length
    const what = `${used} of ${max} connections are in use, with ${living} live nodes.`
    // Live nodes are connected already; one more of them, and a person, must still find room.
    const needed = connectionsPerNode + connectionsForPeople
    if (max - used >= needed) return ok(what)
    return {
      level: max - used < 3 ? 'fail' : 'warn',
      what,
      why: `A node needs up to ${connectionsPerNode} connections; the next one may not be able to start, and heartbeats may fail after a reconnect.`,
      fix: 'Raise max_connections, lower Q_CONNECTIONS, or end idle clients (db/queries/connections.sql).',
    }
  },
}

const durability: Check = {
  id: 'server.durability',
  async look({ server }) {
    const { settings, standbys } = await server()
    if (settings.fsync === 'off' || settings.full_page_writes === 'off') {
      return {
        level: 'fail',
        what: `${settings.fsync === 'off' ? 'fsync' : 'full_page_writes'} is off.`,
        why: 'After a crash of the machine the database may be damaged: acknowledged runs can be lost.',
        fix: 'ALTER SYSTEM RESET ALL; restart the server. Only a test server may run like this.',
      }
    }
    if (settings.synchronous_commit === 'off') {
      return {
        level: 'warn',
        what: 'synchronous_commit is off.',
        why: 'A crash of the server loses the last acknowledged commits, so an accepted run may be lost.',
        fix: 'ALTER DATABASE … SET synchronous_commit = on;',
      }
    }
    if (standbys.all > 0 && standbys.synchronous === 0) {
      return {
        level: 'note',
        what: `${standbys.all === 1 ? '1 standby streams' : `${standbys.all} standbys stream`} asynchronously.`,
        why: 'A failover may lose the last acknowledged commits.',
        fix: 'Set synchronous_standby_names if accepted runs must survive a failover.',
      }
    }
    return ok('Commits are durable.')
  },
}

const timeouts: Check = {
  id: 'server.timeouts',
  async look({ server }) {
    const { idle_session_timeout: idle, statement_timeout: statement } = (await server()).settings
    const isIdleLimited = idle !== '0'
    if (!isIdleLimited) return ok('The server ends no idle session.')
    return {
      level: 'warn',
      what: `idle_session_timeout is ${idle}${statement === '0' ? '' : `, statement_timeout is ${statement}`}.`,
      why: 'The server ends the listening session of a replica after this time without a statement; the replica reconnects, and its presence begins again.',
      fix: `ALTER ROLE … SET idle_session_timeout = 0, for the role that replicas use.`,
    }
  },
}

export const serverChecks: readonly Check[] = [version, connections, durability, timeouts]
