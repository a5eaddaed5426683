/** One node with all its details. Pure. */
import { externalPreset, type HeldRunView, type NodeDetail, type Node, type SlotView } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { shellWord } from '@q/server/client'
import { ago, exact, long, moment, shortDuration } from '../words/ages.ts'
import { countText, plural } from '../words/counts.ts'
import { factLines } from '../words/facts.ts'
import { sparkline } from '../words/sparkline.ts'
import { nodeStateText, runStateText } from '../words/states.ts'
import { cut, styled } from '../words/style.ts'
import { table } from '../words/table.ts'
import { packed } from '../words/wrap.ts'
import { recoveriesTable } from './recoveries.ts'
import { isLiving, servesText, sendsStats } from './nodes.ts'

export function nodeScreen(look: Look, detail: NodeDetail, now: Date = new Date()): string {
  const { node, held, samples, failures, gaps, recoveries } = detail
  const parts = [
    heading(look, node),
    facts(look, node, detail, now),
    ...(node.threads.length === 0 || !isLiving(node)
      ? []
      : [
          '',
          threadsTable(
            look,
            node.threads.toSorted((a, b) => a.slot - b.slot),
          ),
        ]),
    ...(held.length === 0
      ? []
      : [
          section(look, `Holds ${countText(held.length)}, longest first`),
          heldTable(look, held, node),
          ...andMore(held.length, heldShown, `q runs --view running --node ${shellWord(node.name)}`),
        ]),
    ...(samples.length < 2
      ? []
      : [
          cpuLine(
            look,
            samples.map(({ cpuPercent }) => cpuPercent),
          ),
        ]),
    ...(gaps.length === 0
      ? []
      : [
          section(look, 'Gaps between heartbeats'),
          ...gaps.slice(0, entriesShown).map((gap) => `  ${moment(gap.endedAt, now)}  silent for ${long(gap.ms)}`),
          ...andMore(gaps.length, entriesShown, `q node ${shellWord(node.name)} --json`),
        ]),
    ...(failures.length === 0
      ? []
      : [
          section(look, 'Heartbeats that failed'),
          ...failures
            .slice(0, entriesShown)
            .map(({ at, inARow, error }) => fit(look, `  ${moment(at, now)}  ${inARow} in a row  ${error}`)),
          ...andMore(failures.length, entriesShown, `q node ${shellWord(node.name)} --json`),
        ]),
    ...(recoveries.length === 0
      ? []
      : [
          section(look, 'Runs recovered from it'),
          recoveriesTable(look, recoveries.slice(0, recoveriesShown), now),
          ...andMore(recoveries.length, recoveriesShown, `q recoveries --node ${shellWord(node.name)}`),
        ]),
  ]
  return parts.join('\n')
}

const heldShown = 50
const entriesShown = 5
const recoveriesShown = 10

/** The rest of a list that was cut, and the command that shows it. */
function andMore(length: number, shown: number, command: string): string[] {
  return length > shown ? [`  … ${countText(length - shown)} more: ${command}`] : []
}

const barsMax = 30

/** Full bars are all cores, so that an idle node looks idle. */
function cpuLine(look: Look, percents: readonly (number | null)[]): string {
  const most = Math.max(0, ...percents.filter((percent) => percent !== null))
  const label = 'CPU, last hour'
  const peak = `at most ${Math.round(most)} %`
  const room = look.columns === 0 ? barsMax : look.columns - label.length - peak.length - 4
  const bars = sparkline(look, percents, { full: 100, width: Math.max(1, Math.min(barsMax, room)) })
  return `${label}  ${bars}  ${peak}`
}

function heading(look: Look, { name, state, id, hostname, pid, version }: Node): string {
  const who = `${styled(look, 'bold', name)}  ${nodeStateText(look, state)}`
  return packed([who, `id ${id}`, `${hostname} pid ${pid}`, `version ${version}`], look.columns).join('\n')
}

function facts(look: Look, node: Node, { held }: NodeDetail, now: Date): string {
  const lines: (readonly [string, string])[] = [
    ...(node.drain === null || node.state === 'stopped' ? [] : [['drain', drainLine(node.drain, now)] as const]),
    ...(node.stoppedAt === null
      ? [['heartbeat', heartbeatLine(node)] as const]
      : [['stopped', `${moment(node.stoppedAt, now)} (${ago(node.stoppedAt, now)})`] as const]),
    ...(isLiving(node) ? [['load', loadLine(node)] as const] : []),
    // The counts are part of the heartbeat, which is removed some time after a node has stopped.
    ...(node.beatAgeMs === null || !sendsStats(node)
      ? []
      : [['executed', `${countText(node.completed)} completed, ${countText(node.failed)} failed`] as const]),
    ['holds', plural(held.length, 'run')],
    ['serves', servesText(node)],
    ...(node.endpoint === null ? [] : [['endpoint', node.endpoint] as const]),
    ...(node.recovers || node.preset === externalPreset
      ? []
      : [['recovery', 'switched off: runs of dead nodes stay as they are'] as const]),
  ]
  return factLines(look, lines).join('\n')
}

function drainLine(drain: NonNullable<Node['drain']>, now: Date): string {
  const asked = `ordered ${ago(drain.at, now)}${drain.by === null ? '' : ` by ${drain.by}`}`
  const deadline =
    drain.deadline === null
      ? 'no deadline'
      : `deadline ${moment(drain.deadline, now)} (${ago(drain.deadline, now)}), then ${drain.onDeadline}`
  const end = drain.expectedEnd === null ? '' : `, expected end ${ago(drain.expectedEnd, now)}`
  return `${asked}; ${drain.runsLeft} left${end}; ${deadline}${drain.leavingAt === null ? '' : '; leaving'}`
}

function heartbeatLine({ beatAgeMs, thresholds, presence, goneAt, preset, presenceGraceMs }: Node): string {
  const age = beatAgeMs === null ? 'none on record' : `${shortDuration(beatAgeMs)} ago`
  const seen =
    presence === 'held'
      ? 'present'
      : presence === 'gone'
        ? `session gone${goneAt === null ? '' : ` since ${moment(goneAt)}`} (grace ${shortDuration(presenceGraceMs)})`
        : 'no presence lock'
  return `${age}; every ${exact(thresholds.replicaBeatMs)}, lost after ${exact(thresholds.replicaStaleMs)}; ${seen}; preset ${preset}`
}

function loadLine(node: Node): string {
  const { cpuPercent, memoryMb, health, slots, freeSlots, uptimeS } = node
  const busy = `${slots - freeSlots}/${slots} slots`
  if (!sendsStats(node)) return `${busy}; it sends no figures`
  return `${busy}, CPU ${Math.round(cpuPercent)} %, ${memoryMb} MB, ${health}; up ${long(uptimeS * 1_000)}`
}

function threadsTable(look: Look, threads: readonly SlotView[]): string {
  return table<SlotView>(
    look,
    [
      { heading: 'SLOT', cell: ({ slot }) => String(slot), align: 'right' },
      {
        heading: 'STATE',
        cell: ({ state, stoppingFor }) =>
          state === 'stopping' ? styled(look, 'yellow', `stopping ${stoppingFor ?? ''}`) : state,
      },
      { heading: 'RUN', cell: ({ runId }) => runId ?? '', align: 'right' },
      { heading: 'TASK', cell: ({ task }) => task ?? '', shrink: 8 },
      {
        heading: 'CPU',
        cell: ({ cpuPercent }) => (cpuPercent === null ? '' : `${Math.round(cpuPercent)} %`),
        align: 'right',
        drop: 2,
      },
      {
        heading: 'HEAP',
        cell: ({ heapMb }) => (heapMb === null ? '' : `${Math.round(heapMb)} MB`),
        align: 'right',
        drop: 3,
      },
      {
        heading: 'SILENT',
        cell: ({ silentMs }) => (silentMs === null ? '' : shortDuration(silentMs)),
        align: 'right',
        drop: 4,
      },
      { heading: 'WHERE', cell: ({ isolation }) => isolation ?? '', drop: 5 },
    ],
    threads,
  )
}

function heldTable(look: Look, held: readonly HeldRunView[], node: Node): string {
  return table<HeldRunView>(
    look,
    [
      { heading: 'RUN', cell: ({ id }) => id, align: 'right' },
      {
        heading: 'STATE',
        cell: ({ status, cancelRequested }) => runStateText(look, { status, stopping: cancelRequested }),
      },
      { heading: 'TASK', cell: ({ task }) => task, shrink: 8 },
      { heading: 'FOR', cell: ({ forMs }) => shortDuration(forMs), align: 'right' },
      {
        heading: 'DONE',
        cell: ({ progress }) => (progress === null ? '' : `${Math.round(progress * 100)} %`),
        align: 'right',
      },
      {
        heading: 'LEFT',
        cell: ({ expectedEndMs }) => (expectedEndMs === null ? '' : `~${shortDuration(expectedEndMs)}`),
        align: 'right',
        drop: 3,
      },
      { heading: 'AT DEADLINE', cell: ({ atDeadline }) => (node.drain?.deadline == null ? '' : atDeadline), drop: 2 },
      { heading: 'NOTE', cell: ({ note }) => note ?? '', shrink: 10, drop: 4 },
    ],
    held.slice(0, heldShown),
  )
}

function section(look: Look, title: string): string {
  return `\n${styled(look, 'bold', title)}`
}

function fit(look: Look, line: string): string {
  return look.columns === 0 ? line : cut(line, look.columns, look)
}
