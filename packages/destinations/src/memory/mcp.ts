/**
 * Loads the MCP client and the memory server; no other file imports them. Both are optional peers, so an installation
 * without a memory destination does not need them.
 */
import { createRequire } from 'node:module'
import type { Client } from '@modelcontextprotocol/client'
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ExplainedError } from '@q/schema'
import { installCommand, type OptionalPackages, withOptionalPackages } from '../optional-package.ts'

export interface Mcp {
  readonly Client: typeof Client
  readonly StdioClientTransport: typeof StdioClientTransport
}

const require = createRequire(import.meta.url)
const fix = installCommand('@modelcontextprotocol/client @modelcontextprotocol/server-memory')

const mcpPackages: OptionalPackages = {
  code: 'MEMORY_CLIENT_MISSING',
  what: 'The MCP client is not installed.',
  why: 'q reaches a memory server through the package @modelcontextprotocol/client, which is not installed with q.',
  fix,
}

export function loadMcp(): Promise<Mcp> {
  return withOptionalPackages(mcpPackages, async () => {
    const [client, stdio] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ])
    return { Client: client.Client, StdioClientTransport: stdio.StdioClientTransport }
  })
}

/** The command that starts the installed server. */
export function installedServer(): readonly string[] {
  try {
    return [process.execPath, require.resolve('@modelcontextprotocol/server-memory/dist/index.js')]
  } catch (error) {
    throw new ExplainedError({
      code: 'MEMORY_SERVER_MISSING',
      what: 'No memory server is installed.',
      why: 'There is no package @modelcontextprotocol/server-memory, and no other command was named.',
      fix: `${fix}, or name the command of another one`,
      cause: error,
    })
  }
}
