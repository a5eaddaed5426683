/** The glyph, the tone and the word of each kind of mark on a lane. */
import type { LaneMark } from '../../api/contract.ts'
import type { GlyphName } from '../../parts/glyph.tsx'

export const markLooks: Readonly<
  Record<LaneMark['kind'] | 'gap', { readonly glyph: GlyphName; readonly tone: string; readonly word: string }>
> = {
  recovery: { glyph: 'takeover', tone: 'failed', word: 'taken over' },
  refused: { glyph: 'refused', tone: 'failed', word: 'refused' },
  'beat-failed': { glyph: 'bang', tone: 'draining', word: 'beat failed' },
  drain: { glyph: 'draining', tone: 'draining', word: 'drain' },
  stopped: { glyph: 'stopped', tone: 'stopped', word: 'stopped' },
  gap: { glyph: 'pending', tone: 'draining', word: 'gap' },
}
