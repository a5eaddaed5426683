/**
 * The MCP client and the memory server, as packages. Both are optional peers: an installation without a memory destination
 * does not carry them. The only file that imports them.
 */
import { createRequire } from 'node:module'
import type { Client } from '@modelcontextprotocol/client'
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ExplainedError } from '@q/schema'

export interface Mcp {
  readonly Client: typeof Client
  readonly StdioClientTransport: typeof StdioClientTransport
}

const require = createRequire(import.meta.url)
const fix =
  'npm install @modelcontextprotocol/client @modelcontextprotocol/server-memory (in a clone of q: npx --yes pnpm@12 install)'

export async function loadMcp(): Promise<Mcp> {
  try {
    const [client, stdio] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ])
    return { Client: client.Client, StdioClientTransport: stdio.StdioClientTransport }
  } catch (error) {
    if (Reflect.get(error as object, 'code') !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ExplainedError({
      code: 'MEMORY_CLIENT_MISSING',
      what: 'The MCP client is not installed.',
      why: 'A memory server is reached with the package @modelcontextprotocol/client, which q installs only on request.',
      fix,
      cause: error,
    })
  }
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
