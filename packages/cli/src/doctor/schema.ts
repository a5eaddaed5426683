/** Group `schema`: migrations, differences from the expected schema, indexes and rights. */
import { plural } from '../words/counts.ts'
import { ok, skipped, type Check } from './check.ts'

const shownMax = 5

const migrations: Check = {
  id: 'schema.migrations',
  async look({ migrations: plan }) {
    const { pending, newer, olderReplicas } = await plan()
    if (pending.length > 0) {
      return {
        level: 'fail',
        what: `${plural(pending.length, 'migration')} pending: ${listed(pending)}.`,
        why: 'This release cannot work with the database before they are applied.',
        fix: 'q migrate',
      }
    }
    if (newer.length > 0) {
      return {
        level: 'note',
        what: `The database has ${plural(newer.length, 'migration')} that this program does not know: ${newer.join(', ')}.`,
        why: 'A newer release has migrated it. This program still works beside it.',
        fix: 'Upgrade this program.',
      }
    }
    if (olderReplicas.length > 0) {
      return {
        level: 'note',
        what: `${plural(olderReplicas.length, 'node')} of an older release: ${olderReplicas.map(({ name }) => name).join(', ')}.`,
        why: 'They work, but do not know newer features.',
        fix: 'Upgrade them: q drain <node> --wait, then start the new release.',
      }
    }
    return ok('All migrations are applied.')
  },
}

const drift: Check = {
  id: 'schema.drift',
  async look({ store, migrations: plan }) {
    const { pending, newer } = await plan()
    if (pending.length + newer.length > 0) return skipped('The database is at another migration than this program.')
    const differences = await store.inspectSchema()
    const wrong = differences.filter(({ difference }) => difference !== 'extra')
    const named = (some: typeof differences) =>
      some
        .slice(0, shownMax)
        .map(({ difference, kind, name }) => `${kind} ${name} ${difference}`)
        .join(', ') + (some.length > shownMax ? `, ${some.length - shownMax} more` : '')
    if (wrong.length > 0) {
      return {
        level: 'fail',
        what: `The schema differs from the migrations: ${named(wrong)}.`,
        why: 'Statements of q rely on it: claims may become slow, or rules of the data may not be enforced.',
        fix: wrong.find(({ fix }) => fix !== undefined)?.fix ?? 'Compare with db/schema.sql, and restore what differs.',
      }
    }
    if (differences.length > 0) {
      return {
        level: 'note',
        what: `Schema q has objects that no migration creates: ${named(differences)}.`,
        why: 'Additional indexes and triggers slow down every claim and every settled run.',
        fix: 'Keep them if you need them.',
      }
    }
    return ok('The schema is as the migrations create it.')
  },
}

const indexes: Check = {
  id: 'schema.indexes',
  async look({ store }) {
    const invalid = (await store.inspectTables()).flatMap(({ invalidIndexes }) => invalidIndexes)
    if (invalid.length === 0) return ok('All indexes are valid.')
    return {
      level: 'fail',
      what: `${plural(invalid.length, 'index', 'indexes')} invalid: ${invalid.join(', ')}.`,
      why: 'An interrupted CREATE INDEX CONCURRENTLY left it behind: it costs every write and serves no read.',
      fix: `REINDEX INDEX CONCURRENTLY q.${invalid[0]};`,
    }
  },
}

const rights: Check = {
  id: 'schema.rights',
  async look({ store }) {
    const { user, mayUse, unreadable, unwritable, outdatedRoles } = await store.inspectRights()
    const [outdated] = outdatedRoles
    if (outdated !== undefined) {
      return {
        level: 'fail',
        what: `Role ${outdated.role} cannot read ${outdated.tables.slice(0, shownMax).join(', ')}.`,
        why: 'A migration created tables after the rights were granted.',
        fix: 'psql -f db/roles.sql, as the owner of the schema.',
      }
    }
    if (!mayUse || unreadable.length > 0) {
      return {
        level: 'warn',
        what: `${user} cannot read ${mayUse ? unreadable.slice(0, shownMax).join(', ') : 'schema q'}.`,
        why: 'Commands that read them fail with DATABASE_RIGHTS_MISSING.',
        fix: `GRANT q_reader TO ${user};  or q_admin, for commands that change something`,
      }
    }
    if (unwritable.length === 0) return ok(`${user} may read and change everything in schema q.`)
    return {
      level: 'note',
      what: `${user} may not change ${plural(unwritable.length, 'table')}: ${unwritable.slice(0, shownMax).join(', ')}.`,
      why: 'Commands that change them fail with DATABASE_RIGHTS_MISSING.',
      fix: `GRANT q_admin TO ${user};`,
    }
  },
}

function listed(names: readonly string[]): string {
  return names.length <= shownMax ? names.join(', ') : `${names[0]} to ${names.at(-1)}`
}

export const schemaChecks: readonly Check[] = [migrations, drift, indexes, rights]
