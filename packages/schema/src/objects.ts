/** The entry `@q/schema/objects`: what `q doctor` compares a database with. Apart from the rest, because few programs need it. */
export { migratedObjects } from './generated/objects.ts'
export { schemaDrift, schemaObjects, type SchemaDrift, type SchemaObject } from './schema-objects.ts'
