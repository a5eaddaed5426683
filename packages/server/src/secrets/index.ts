/** What hides the secrets in values that users stored, for every program that shows these values. It loads no server. */
export { hidingReads } from './hiding-reads.ts'
export { hidden } from './secrets.ts'
export { secretsOf } from './secrets-of.ts'
