/** Hides the secrets in values that users stored, for every program that shows these values. Loads no server. */
export { hidingReads } from './hiding-reads.ts'
export { hidden } from './secrets.ts'
export { secretsOf } from './secrets-of.ts'
