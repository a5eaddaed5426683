/**
 * Takes over the terminal: alternate screen, raw keys, no cursor. Restores the terminal however the process ends
 * (leaving, an error, SIGTERM, SIGINT) and while SIGTSTP stops it. Only SIGKILL cannot be handled.
 */
import { emitKeypressEvents } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'
import type { Key } from './view.ts'

const enter = '\u001B[?1049h\u001B[?25l'
const leave = '\u001B[?25h\u001B[?1049l'

export interface Screen {
  /** Replaces all lines on the screen. */
  draw(lines: readonly string[]): void
  /** Restores the terminal and stops the process, as Ctrl-Z does; returns when the process continues. */
  suspend(): void
  close(): void
}

export interface ScreenHandlers {
  readonly onKey: (key: Key) => void
  readonly onResize: () => void
  /** SIGTERM or SIGINT. */
  readonly onQuit: () => void
}

export function openScreen(input: ReadStream, output: WriteStream, handlers: ScreenHandlers): Screen {
  let isOpen = false
  const take = () => {
    isOpen = true
    output.write(enter)
    input.setRawMode(true)
    input.resume()
  }
  const restoreTerminal = () => {
    if (!isOpen) return
    isOpen = false
    input.setRawMode(false)
    output.write(leave)
  }
  const stop = () => {
    restoreTerminal()
    process.kill(process.pid, 'SIGSTOP')
  }
  const goOn = () => {
    if (!isOpen) take()
    handlers.onResize()
  }
  const keypress = (text: string | undefined, key: { name?: string; ctrl?: boolean } | undefined) =>
    handlers.onKey({ name: key?.name ?? text ?? '', ctrl: key?.ctrl === true, text: text ?? '' })

  emitKeypressEvents(input)
  input.on('keypress', keypress)
  output.on('resize', handlers.onResize)
  const signals = {
    SIGTERM: handlers.onQuit,
    SIGINT: handlers.onQuit,
    SIGHUP: handlers.onQuit,
    SIGTSTP: stop,
    SIGCONT: goOn,
  }
  for (const [signal, handler] of Object.entries(signals)) process.on(signal, handler)
  // An error that nothing handles ends the process too.
  process.on('exit', restoreTerminal)
  take()
  return {
    draw(lines) {
      if (isOpen) output.write(`\u001B[H${lines.map((line) => `${line}\u001B[K`).join('\r\n')}\u001B[J`)
    },
    suspend: stop,
    close() {
      restoreTerminal()
      input.off('keypress', keypress)
      input.pause()
      output.off('resize', handlers.onResize)
      for (const [signal, handler] of Object.entries(signals)) process.off(signal, handler)
      process.off('exit', restoreTerminal)
    },
  }
}
