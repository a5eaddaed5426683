/** The kinds of destinations. The code of a kind is loaded when the first destination of that kind opens. */
import { githubProblemsOf } from './github/settings.ts'
import { memoryProblems } from './memory/settings.ts'
import { installCommand, type OptionalPackages, withOptionalPackages } from './optional-package.ts'
import type { DestinationKind } from './sender.ts'
import { webhookProblems } from './webhook/settings.ts'

const octokit: OptionalPackages = {
  code: 'GITHUB_CLIENT_MISSING',
  what: 'Octokit is not installed.',
  why: 'q reaches GitHub through Octokit, which is not installed with q.',
  fix: installCommand('@octokit/core @octokit/plugin-retry @octokit/plugin-throttling'),
}

export const destinationKinds: Readonly<Record<string, DestinationKind>> = {
  log: {
    problemsOf: () => [],
    localSettings: [],
    open: async (context) => (await import('./log/log-sender.ts')).openLogSender(context),
    inFlightMax: 1,
    batchMax: 100,
  },
  github: {
    problemsOf: githubProblemsOf,
    localSettings: ['apiUrl'],
    open: async (context) =>
      (await withOptionalPackages(octokit, () => import('./github/github-sender.ts'))).openGithubSender(context),
    // GitHub asks clients to write one request at a time, a second apart.
    inFlightMax: 1,
    batchMax: 50,
  },
  memory: {
    problemsOf: memoryProblems,
    localSettings: ['command'],
    open: async (context) => (await import('./memory/memory-sender.ts')).openMemorySender(context),
    // The memory server loses concurrent updates.
    inFlightMax: 1,
    batchMax: 500,
  },
  webhook: {
    problemsOf: webhookProblems,
    localSettings: [],
    open: async (context) => (await import('./webhook/webhook-sender.ts')).openWebhookSender(context),
    // While the last requests of a batch are in flight, those of the next one fill the slots of the sender.
    inFlightMax: 2,
    batchMax: 32,
  },
}
