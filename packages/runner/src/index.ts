export { startRunner, type Runner, type RunnerOptions } from './main/runner.ts'
export { readConfig, type RunnerConfig } from './config.ts'
export { presets, type Preset } from './presets.ts'
export type { Observe, RunnerEvent } from './main/events.ts'
