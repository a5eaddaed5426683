/** Reads the tokens from the style sheet and computes every pair that the page uses, in both themes (WCAG 2.2, 1.4.3 and 1.4.11). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const css = readFileSync(new URL('../src/styles/tokens.css', import.meta.url), 'utf8')
const tokens = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
)
const states = [
  'pending',
  'available',
  'claimed',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'expired',
  'skipped',
  'draining',
]
const grounds = ['bg', 'surface', 'raised', 'hover']

const text: [string, string][] = [
  ...['text', 'soft', 'mute', 'accent'].flatMap((ink) =>
    [...grounds, 'current'].map((ground): [string, string] => [ink, ground]),
  ),
  ...states.flatMap((state) => [...grounds, `${state}-t`].map((ground): [string, string] => [state, ground])),
  ...['text', 'mute'].flatMap((ink) => ['failed-t', 'draining-t'].map((ground): [string, string] => [ink, ground])),
  ['on-accent', 'accent'],
  ['on-danger', 'danger'],
]
const graphics: [string, string][] = [
  ...grounds.flatMap((ground) => [['edge', ground] as [string, string], ['focus', ground] as [string, string]]),
  ...states.map((state): [string, string] => [state, 'track']),
]

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  test.each(text)('%s can be read on %s', (ink, ground) => {
    expect(contrast(colour(ink, theme), colour(ground, theme))).toBeGreaterThanOrEqual(4.5)
  })

  test.each(graphics)('%s can be seen on %s', (ink, ground) => {
    expect(contrast(colour(ink, theme), colour(ground, theme))).toBeGreaterThanOrEqual(3)
  })

  test('text of old data, without its colour, can be read', () => {
    for (const [ink, ground] of text)
      expect(contrast(grey(colour(ink, theme)), grey(colour(ground, theme)))).toBeGreaterThanOrEqual(4.3)
  })
})

function colour(name: string, theme: 'light' | 'dark'): number[] {
  const hex = tokens.get(name)?.[theme]
  if (hex === undefined) throw new Error(`There is no token --${name}.`)
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
}

/** As `filter: grayscale(1)` computes it. */
function grey([red = 0, green = 0, blue = 0]: number[]): number[] {
  const value = 0.2126 * red + 0.7152 * green + 0.0722 * blue
  return [value, value, value]
}

function contrast(a: number[], b: number[]): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(rgb: number[]): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
