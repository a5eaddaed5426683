import { defineConfig } from 'vitest/config'

const source = { resolve: { conditions: ['@q/source'] } }

export default defineConfig({
  ...source,
  ssr: source,
  test: { include: ['*.fixture.ts'], setupFiles: ['../refuse-leaks.ts'], pool: 'forks' },
})
