/** `q top` on a terminal: reads once per second, draws, and handles keys until a person leaves. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandContext } from '../frame/command.ts'
import type { Look } from '../frame/terminal.ts'
import { drawAlone } from '../frame/patience.ts'
import { safeLine } from '../words/safe.ts'
import { doAct } from './act.ts'
import { detailLines } from './detail.ts'
import { createLooker, type TopFacts } from './facts.ts'
import { topLines } from './layout.ts'
import { openScreen, type Screen } from './screen.ts'
import { firstView, press, type Effect, type Key, type Pane } from './view.ts'

export async function watchTop(context: CommandContext, everyMs: number): Promise<void> {
  const { terminal } = context
  const looker = createLooker(context.store, context.description)
  const quit = new AbortController()
  let facts: TopFacts = await looker.look()
  drawAlone(terminal)
  let view = firstView
  let opened: { readonly pane: Pane; readonly id: string } | undefined
  let detail: readonly string[] = []
  let failure: unknown

  const look = (): Look => ({ columns: terminal.columns, colour: terminal.colour, ascii: terminal.ascii })
  const draw = () => {
    const rows = Math.max(1, terminal.rows)
    const lines = view.mode === 'detail' ? detail.slice(0, rows) : topLines(look(), rows, facts, view)
    screen.draw(lines.map((line) => safeLine(line, terminal)))
  }
  const fail = (error: unknown) => {
    failure ??= error
    quit.abort()
  }
  const follow = async (effect: Effect) => {
    if (effect === 'none') return
    if (effect === 'quit') return quit.abort()
    if (effect === 'suspend') return screen.suspend()
    if ('open' in effect) {
      opened = effect.open
      detail = await detailLines(context, look(), opened)
    } else view = { ...view, message: await doAct(context, effect.act) }
    draw()
  }
  const onKey = (key: Key) => {
    const pressed = press(view, key, facts)
    view = pressed.view
    if (view.mode !== 'detail') opened = undefined
    draw()
    follow(pressed.effect).catch(fail)
  }
  const screen: Screen = openScreen(process.stdin, process.stdout, {
    onKey,
    onResize: () => draw(),
    onQuit: () => quit.abort(),
  })
  try {
    while (!quit.signal.aborted) {
      draw()
      await sleep(looker.restMs(everyMs), undefined, { signal: quit.signal }).catch(() => {})
      if (quit.signal.aborted || view.frozen) continue
      if (opened === undefined) facts = await looker.look()
      else detail = await detailLines(context, look(), opened)
    }
  } finally {
    screen.close()
  }
  if (failure !== undefined) throw failure
}
