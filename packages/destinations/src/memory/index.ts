export { MemoryFailure } from './failure.ts'
export type { Entity } from './graph.ts'
export { type Memory, type MemoryOptions, openMemory } from './memory.ts'
