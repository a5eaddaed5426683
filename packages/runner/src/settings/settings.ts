/**
 * All settings, as data: the name, the meaning and the allowed values of each. config.ts reads the environment by this
 * table, and docs/reference/configuration.md is generated from it.
 */
import { executionSettings, type ExecutionValues } from './execution-settings.ts'
import { livenessSettings, type LivenessValues } from './liveness-settings.ts'
import { pageSettings } from './page-settings.ts'
import type { Setting, SettingsOf } from './setting-parsers.ts'
import { upkeepSettings, type UpkeepValues } from './upkeep-settings.ts'

export interface SettingValues extends ExecutionValues, LivenessValues, UpkeepValues {}

export const settings: SettingsOf<SettingValues> = { ...executionSettings, ...livenessSettings, ...upkeepSettings }

/** Read by programs, not by a runner that is embedded into another. */
export const programSettings: readonly Pick<Setting<unknown>, 'variable' | 'shown' | 'what'>[] = [
  {
    variable: 'DATABASE_URL',
    shown: 'an embedded PostgreSQL',
    what: 'the database, `postgresql://user:password@host:5432/database`; q rejects an empty value',
  },
  {
    variable: 'DATABASE_URL_DIRECT',
    shown: '`DATABASE_URL`',
    what: 'the URL for migrations, presence and LISTEN, if `DATABASE_URL` leads through a pooler',
  },
  {
    variable: 'Q_DATA_DIR',
    shown: '`.q/postgres` in the workspace',
    what: 'the directory with the data of the embedded PostgreSQL',
  },
  ...pageSettings,
  {
    variable: 'Q_USER',
    shown: 'user and host name',
    what: 'your name in the records of what a command changed (`q actions`)',
  },
  {
    variable: 'Q_MEMORY_FILE',
    shown: '',
    what: 'the file of an MCP memory server, an absolute path: for `q memory`, and for memory destinations without a file',
  },
  { variable: 'Q_ASCII', shown: 'by the locale', what: '`1`: commands print ASCII characters only; `0`: never' },
  { variable: 'Q_DEBUG', shown: '', what: '`1` adds stack traces to errors' },
]
