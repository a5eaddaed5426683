export {
  initialStates,
  transitionTable,
  isTerminal,
  taskStates,
  transitions,
  type TaskState,
  type TerminalState,
} from './task-states.ts'
export { errorCodes, type ErrorCode } from './error-codes.ts'
export { ExplainedError, isExplained, type Explained } from './explained-error.ts'
export { migrationFiles, programLevel, type MigrationFile } from './migration-files.ts'
export { migrate, type MigrateOptions } from './migrate.ts'
export { migrationScript } from './migration-script.ts'
export { oneLine, printable } from './printable.ts'
export { isSecretName, redactPatterns } from './redact.ts'
export { reportKinds, type HeartbeatData, type ReportKind, type WorkerMetrics } from './reports.ts'
export { schemaState, type AnyDatabase, type SchemaState } from './schema-state.ts'
export type * from './generated/db.ts'
