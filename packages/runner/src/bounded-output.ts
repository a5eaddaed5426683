/**
 * Standard output and error that never stop the thread that writes to them. A pipe that its reader does not empty, and a
 * terminal that was paused, take what fits; the rest waits in memory up to a bound, and what exceeds the bound is dropped
 * and counted. A reader that has gone, or a full disk, costs output and nothing else.
 *
 * It applies to the stream itself, so it holds for the log, for the banner, for console and for task code alike.
 */
const waitingBytesMax = 1_048_576

export interface BoundedOutput {
  /** `report` gets the number of dropped writes once the stream takes data again. Default: it writes a line. */
  onDropped(report: (dropped: number) => void): void
  /** Resolves when everything so far was written; never, if the reader takes nothing. */
  written(): Promise<void>
}

type Callback = (error?: Error | null) => void

export function boundOutput(stream: NodeJS.WriteStream): BoundedOutput {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean
  let dropped = 0
  let report = (count: number): void => void stream.write(`dropped ${count} writes: this output was not being read\n`)
  stream.on('error', () => void dropped++)
  stream.on('drain', reportDropped)
  stream.write = (chunk: unknown, ...rest: unknown[]) => {
    const done = rest.findLast((argument) => typeof argument === 'function') as Callback | undefined
    if (stream.writableLength >= waitingBytesMax) {
      dropped++
      if (done !== undefined) process.nextTick(done)
      return false
    }
    stopBlocking(stream)
    if (dropped === 0) return write(chunk, ...rest)
    return write(chunk, ...rest.filter((argument) => argument !== done), (error?: Error | null) => {
      done?.(error)
      if (error == null) reportDropped()
    })
  }
  return {
    onDropped(by) {
      report = by
    },
    written() {
      const { promise, resolve } = Promise.withResolvers<void>()
      write('', () => resolve())
      return promise
    },
  }

  function reportDropped(): void {
    if (dropped === 0) return
    const count = dropped
    dropped = 0
    report(count)
  }
}

/**
 * Node makes terminals blocking; and a process that is spawned with this output as its own makes it blocking for both, so
 * this is called with every write. The handle is the only way to change it.
 */
function stopBlocking(stream: NodeJS.WriteStream): void {
  const handle = Reflect.get(stream, '_handle') as { setBlocking?(blocking: boolean): void } | undefined
  handle?.setBlocking?.(false)
}
