/** Group `server`: version, connections, durability and time limits of the server. */
import { oldestServer, type ServerFacts } from '@q/store'
import { isLiving } from '../screens/nodes.ts'
import { isTooOld, ok, type Check } from './check.ts'

/** The most connections of one replica, with the default `Q_CONNECTIONS`, and a reserve for people and tools. */
const connectionsPerNode = 7
const connectionsForPeople = 10

const version: Check = {
  id: 'server.version',
  async look({ server }) {
    const facts = await server()
    if (!isTooOld(facts)) return ok(`PostgreSQL ${facts.version}.`)
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
    const facts = await server()
    const { settings, standbys, seesSessions, user } = facts
    const lossy = (['fsync', 'full_page_writes'] as const).find((name) => settings[name] === 'off')
    if (lossy !== undefined) {
      return {
        level: 'fail',
        what: `${lossy} is off.`,
        why: 'After a crash of the machine the database may be damaged: acknowledged runs can be lost.',
        fix: `${switchOn(lossy, facts)} Only a test server may run like this.`,
      }
    }
    if (settings.synchronous_commit === 'off') {
      return {
        level: 'warn',
        what: 'synchronous_commit is off.',
        why: 'A crash of the server loses the last acknowledged commits, so an accepted run may be lost.',
        fix: switchOn('synchronous_commit', facts),
      }
    }
    const streams = standbys.all === 1 ? '1 standby streams' : `${standbys.all} standbys stream`
    if (standbys.all > 0 && !seesSessions) {
      return {
        level: 'note',
        what: `${streams}; ${user} cannot see whether commits wait for it.`,
        why: 'If they do not, a failover may lose the last acknowledged commits.',
        fix: `GRANT pg_read_all_stats TO "${user}";  as a superuser`,
      }
    }
    if (standbys.all > 0 && standbys.synchronous === 0) {
      return {
        level: 'note',
        what: `${streams} asynchronously.`,
        why: 'A failover may lose the last acknowledged commits.',
        fix: 'Set synchronous_standby_names if accepted runs must survive a failover.',
      }
    }
    return ok('Commits are durable.')
  },
}

type DurabilitySetting = 'fsync' | 'full_page_writes' | 'synchronous_commit'

/** Undoes the setting where it was made: a statement for another place would change nothing. */
function switchOn(name: DurabilitySetting, { sources, database, user }: ServerFacts): string {
  switch (sources[name]) {
    case 'command line':
      return `Remove ${name}=off from the options with which the server is started, and restart the server.`
    case 'database':
      return `ALTER DATABASE "${database}" RESET ${name};  new sessions have ${name} = on.`
    case 'user':
      return `ALTER ROLE "${user}" RESET ${name};  new sessions have ${name} = on.`
    case 'database user':
      return `ALTER ROLE "${user}" IN DATABASE "${database}" RESET ${name};  new sessions have ${name} = on.`
    case 'client':
      return `Remove it from the options in DATABASE_URL or PGOPTIONS: ${name} = on is the default.`
    default:
      return `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf();`
  }
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
