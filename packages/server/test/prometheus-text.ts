/** A strict parser of the Prometheus text format 0.0.4: anything that the format does not allow is an error. */

export interface Sample {
  /** With `_bucket`, `_sum` or `_count` for histograms. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly type: string
  readonly help: string
  readonly samples: Sample[]
}

export function parsePrometheus(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('The last line does not end.')
  const families = new Map<string, Family>()
  let open: { name: string; help: string; family: Family | undefined } | undefined
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) ([a-z_][a-z0-9_]*) (.+)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      if (families.has(name)) throw new Error(`${name} appears twice.`)
      open = { name, help: rest, family: undefined }
    } else if (keyword === 'TYPE') {
      if (open?.name !== name || open.family !== undefined) throw new Error(`TYPE without HELP before it: ${line}`)
      if (!['counter', 'gauge', 'histogram'].includes(rest)) throw new Error(`unknown type: ${line}`)
      open.family = { type: rest, help: open.help, samples: [] }
      families.set(name, open.family)
    } else {
      if (open?.family === undefined) throw new Error(`a sample before its TYPE: ${line}`)
      open.family.samples.push(sampleOf(line, open.name, open.family))
    }
  }
  for (const [name, family] of families) requireConsistent(name, family)
  return families
}

const label = String.raw`([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"`
const sampleLine = new RegExp(String.raw`^([a-z_][a-z0-9_]*)(?:\{(${label}(?:,${label})*)\})? (\S+)$`)

function sampleOf(line: string, family: string, { type, samples }: Family): Sample {
  const found = sampleLine.exec(line)
  if (found === null) throw new Error(`not a sample: ${line}`)
  const [, name = '', labelText = ''] = found
  const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => family + end) : [family]
  if (!names.includes(name)) throw new Error(`${name} is not a sample of ${family}`)
  const given = [...labelText.matchAll(new RegExp(label, 'g'))].map(([, key = '', value = '']) => [key, value] as const)
  const labels = Object.fromEntries(given)
  if (Object.keys(labels).length !== given.length) throw new Error(`a label appears twice: ${line}`)
  const sample = { name, labels, value: numberOf(found.at(-1) ?? '') }
  if (samples.some((other) => keyOf(other) === keyOf(sample))) throw new Error(`a series appears twice: ${line}`)
  return sample
}

function numberOf(text: string): number {
  if (!/^(-?\d+(\.\d+)?(e[+-]?\d+)?|\+Inf)$/i.test(text)) throw new Error(`not a number: ${text}`)
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text)
}

function keyOf({ name, labels }: Sample): string {
  return JSON.stringify([name, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

function requireConsistent(name: string, { type, samples }: Family): void {
  if (type === 'counter' && samples.some(({ value }) => value < 0)) throw new Error(`${name} is negative`)
  if (type !== 'histogram') return
  for (const series of Map.groupBy(samples, (sample) => JSON.stringify({ ...sample.labels, le: null })).values()) {
    const buckets = series.filter((sample) => sample.name === `${name}_bucket`)
    const counts = buckets.map(({ value }) => value)
    const bounds = buckets.map(({ labels }) => numberOf(labels['le'] ?? ''))
    const count = series.find((sample) => sample.name === `${name}_count`)?.value
    const isRising = (numbers: readonly number[]) =>
      numbers.every((one, at) => at === 0 || one >= (numbers[at - 1] ?? 0))
    if (!isRising(counts) || !isRising(bounds)) throw new Error(`the buckets of ${name} fall`)
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY || counts.at(-1) !== count)
      throw new Error(`${name} has no whole count`)
    if (!series.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name} has no sum`)
  }
}

/** The value of one series; undefined: there is none. */
export function valueOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = keyOf({ name, labels, value: 0 })
  const family = families.get(name.replace(/_(bucket|sum|count)$/, '')) ?? families.get(name)
  return family?.samples.find((sample) => keyOf(sample) === wanted)?.value
}
