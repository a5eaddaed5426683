/**
 * Standard output and error that never block the thread that writes to them. If a pipe is full or a terminal is paused,
 * output waits in memory up to a bound; writes beyond the bound are dropped and counted. If the reader has gone or the
 * disk is full, output is lost and nothing else.
 *
 * It wraps the stream itself, so it applies to the log, the banner, the console and task code alike.
 */
const waitingBytesMax = 1_048_576

export interface BoundedOutput {
  /** `report` gets the number of dropped writes once the stream takes data again. Default: it writes a line. */
  onDropped(report: (dropped: number) => void): void
  /** Resolves when all output so far has been written; never, if the reader does not read. */
  flushed(): Promise<void>
}

type Callback = (error?: Error | null) => void

/** Replaces the `write` of the stream. */
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
    onDropped(newReport) {
      report = newReport
    },
    flushed() {
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
 * Node makes terminals blocking, and a spawned process that inherits this output makes it blocking for both. So this is
 * called with every write. The handle is the only way to change it.
 */
function stopBlocking(stream: NodeJS.WriteStream): void {
  const handle = Reflect.get(stream, '_handle') as { setBlocking?(blocking: boolean): void } | undefined
  handle?.setBlocking?.(false)
}
