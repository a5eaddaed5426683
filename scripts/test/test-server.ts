/**
 * Vitest's global setup. It stands at the root of vitest.config.ts, not in the projects: there it runs once per run,
 * in them once per project. Test files find the server through the environment (@q/testing).
 */
export { default } from '@q/testing/global-setup'
