/** Shows the current sample, the number of remaining ones, and the remaining time. */
interface Progress {
  begin(what: string): void
  end(what: string, seconds: number, result: string): void
}

/** `left`: the samples to take, each by a name that samples of the same kind share. */
export function createProgress(left: readonly string[], say: (line: string) => void): Progress {
  const took = new Map<string, number>()
  const waiting = [...left]
  const total = waiting.length
  return {
    begin(what) {
      const number = total - waiting.length + 1
      say(`${number}/${total} ${what} … about ${duration(remaining(waiting, took))} left`)
    },
    end(what, seconds, result) {
      const kind = waiting.shift()
      if (kind !== undefined) took.set(kind, seconds)
      say(`      ${what}: ${result} (${seconds.toFixed(1)} s)`)
    },
  }
}

const unknownSeconds = 6

function remaining(waiting: readonly string[], took: ReadonlyMap<string, number>): number {
  const known = [...took.values()]
  const mean = known.length === 0 ? unknownSeconds : known.reduce((sum, each) => sum + each, 0) / known.length
  return waiting.reduce((sum, kind) => sum + (took.get(kind) ?? mean), 0)
}

function duration(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}
