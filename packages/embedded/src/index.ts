/** PostgreSQL 18 from npm packages. Imports no other package of the workspace. */
export { EmbeddedError, type EmbeddedErrorCode } from './embedded-error.ts'
export { type EmbeddedOptions, type EmbeddedServer, startEmbedded } from './start-embedded.ts'
