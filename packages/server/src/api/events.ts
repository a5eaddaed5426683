/**
 * The live stream: server-sent events, each with the topic as its name and JSON as its data. A new stream begins with
 * `hello` and a complete frame of every topic, so a reconnect needs no replay.
 */
import { z } from 'zod'
import { runId, time } from './fields.ts'
import { loggedLine, logPlace, logSubject } from './logs.ts'
import { node } from './nodes.ts'
import { operation } from './operations.ts'
import { attentionList, overview } from './overview.ts'
import { queueView } from './queues.ts'
import { routes } from './route.ts'
import { runTick } from './runs.ts'
import { session } from './session.ts'
import { stepView, workflowView } from './workflows.ts'

const topics = ['nodes', 'overview', 'queues', 'attention'] as const
export type TopicName = (typeof topics)[number]

/** All tabs of a browser share one stream: it has the logs, workflows and operations of each. */
const subjectsMax = 10

/** Frames by the name of their event. */
export const frames = {
  hello: session,
  /** `snapshot`: there are no others. */
  nodes: z.object({ at: time, snapshot: z.boolean(), changed: z.array(node), gone: z.array(z.string()) }),
  overview,
  queues: z.object({ at: time, items: z.array(queueView) }),
  attention: attentionList,
  /** The tick of a subscribed run, when it changed. */
  run: runTick,
  /**
   * The lines that follow `after`. If that is not the last known line, fetch the lines in between. `dropped`: there are
   * too many lines to send; fetch them.
   */
  log: z.object({
    runId,
    after: logPlace.nullable(),
    lines: z.array(loggedLine),
    next: logPlace.nullable(),
    dropped: z.boolean(),
  }),
  workflow: z.object({ at: time, workflow: workflowView, steps: z.array(stepView) }),
  operation,
  /** The server could not read: the shown data of this topic is old, until its next frame. `id`: of a log, workflow or operation. */
  old: z.object({ topic: z.string(), id: runId.nullable(), since: time, code: z.string(), why: z.string() }),
  tick: z.object({ now: time }),
  /** The server ends the stream; reconnect. */
  bye: z.object({ why: z.string() }),
} as const
export type Frames = { [Name in keyof typeof frames]: z.infer<(typeof frames)[Name]> }

export const eventRoutes = routes({
  'GET /api/events': {
    scope: 'read',
    summary: 'Server-sent events of topics, runs, logs, workflows and operations.',
    query: z.object({
      topics: z.array(z.enum(topics)).max(4).optional(),
      runs: z.array(runId).max(200).optional(),
      log: z
        .array(logSubject)
        .max(subjectsMax)
        .optional()
        .describe('Ids of runs, or `id.fence.lineNo` of the last line that is known.'),
      workflow: z.array(runId).max(subjectsMax).optional(),
      operation: z.array(runId).max(subjectsMax).optional(),
    }),
    answer: 'stream',
  },
})
