export { testServer, type TestServer } from './test-server.ts'
export { testDatabase, type TestDatabase, type TestDatabaseOptions } from './test-database.ts'
export { testRun, type TestRun } from './test-run.ts'
