/**
 * The entry `@q/schema/objects`: the schema objects that `q doctor` compares a database with. A separate entry, because
 * few programs need it.
 */
export { migratedObjects } from './generated/objects.ts'
export { schemaDrift, schemaObjects, type SchemaDrift, type SchemaObject } from './schema-objects.ts'
