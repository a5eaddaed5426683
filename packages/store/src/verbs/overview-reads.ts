/**
 * Reads of the whole system for the person who operates it: overview, figures over time, errors, workflows, schedules,
 * deliveries.
 */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { attention, type AttentionReport } from '../reads/attention/attention.ts'
import { clusterGauges, type ClusterGauges } from '../reads/overview/cluster-gauges.ts'
import {
  getErrorGroup,
  listErrorGroups,
  type ErrorGroup,
  type ErrorGroupPage,
  type ErrorGroupRequest,
} from '../reads/errors/error-groups.ts'
import { heartbeatLanes, type HeartbeatLane, type LaneWindow } from '../reads/nodes/heartbeat-lanes.ts'
import { overview, type Overview } from '../reads/overview/overview.ts'
import type { Page } from '../reads/page.ts'
import { series, type SeriesPoint, type SeriesRequest } from '../reads/rates/series.ts'
import { scheduleTicks, type ScheduleTick } from '../reads/schedules/schedule-ticks.ts'
import { listWorkflows, type WorkflowRequest } from '../reads/workflows/list-workflows.ts'
import type { WorkflowView } from '../reads/workflows/workflow.ts'

export interface OverviewReadVerbs {
  // ---- Reads of the whole system: no locks, no writes

  /**
   * Returns slots, nodes, backlog, rates and the number of items that need a person, as a few figures.
   * The cost does not grow with backlog or history.
   */
  overview(): Promise<Overview>

  /**
   * Returns queues, nodes and what needs a person as numbers for metrics: the newest sample of each queue, and bounded counts.
   * The same numbers for every caller; nothing is counted that a backlog or a history could make long.
   */
  clusterGauges(): Promise<ClusterGauges>

  /**
   * Returns what a person should act on, the most harmful first, each with one sentence and the command that helps.
   * Twenty bounded queries; an empty list means that nothing needs a person.
   */
  attention(): Promise<AttentionReport>

  /**
   * Returns rates, waits, durations, ages or lengths over time, of everything, a queue or a task.
   * Reads tallies and samples, never runs; at most 300 points, of which the last may be partial.
   */
  series(request: SeriesRequest): Promise<SeriesPoint[]>

  /**
   * Returns groups of equal errors, last seen first, with the last 24 hours of each. At most 500 per page, of at most
   * 10 000 that it reads; returns how far it looked back.
   */
  listErrorGroups(request?: ErrorGroupRequest): Promise<ErrorGroupPage>

  /**
   * Returns one group of equal errors, by its fingerprint or the beginning of it. Undefined if no group, or more than
   * one, matches.
   */
  getErrorGroup(fingerprint: string): Promise<ErrorGroup | undefined>

  /**
   * Returns workflows by state and name, newest first.
   * Counts at most 2 000 steps of each; at most 500 per page.
   */
  listWorkflows(request?: WorkflowRequest): Promise<Page<WorkflowView>>

  /**
   * Returns the last ticks of a schedule and the outcomes of their runs.
   * 20 by default, at most 500.
   */
  scheduleTicks(schedule: string, limit?: number): Promise<ScheduleTick[]>

  /**
   * Returns when each node was alive within a window, its gaps without a heartbeat, and its events. At most 250 nodes.
   */
  heartbeatLanes(window: LaneWindow): Promise<HeartbeatLane[]>
}

export function overviewReadVerbs(db: Kysely<DB>): OverviewReadVerbs {
  return {
    overview: () => overview(db),
    clusterGauges: () => clusterGauges(db),
    attention: () => attention(db),
    series: (request) => series(db, request),
    listErrorGroups: (request) => listErrorGroups(db, request),
    getErrorGroup: (fingerprint) => getErrorGroup(db, fingerprint),
    listWorkflows: (request) => listWorkflows(db, request),
    scheduleTicks: (schedule, limit) => scheduleTicks(db, schedule, limit),
    heartbeatLanes: (window) => heartbeatLanes(db, window),
  }
}
