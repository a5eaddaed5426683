// vitest.config.ts: one database server for all test files
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { globalSetup: ['@q/testing/global-setup'] } })
