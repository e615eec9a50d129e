/** The tools of other MCP servers that are offered here, and the way to call them. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { RemoteServer } from './config.ts'
import { openRemote, type RemoteOptions, type RemoteTool } from './server.ts'

export interface RemoteTools {
  has(server: string): boolean
  /** The tools of these servers that may be called; those of a server that was never there are not known yet. */
  tools(servers: Iterable<string>): readonly RemoteTool[]
  call(tool: RemoteTool, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>
  close(): Promise<void>
}

export function openRemoteTools(
  servers: ReadonlyMap<string, RemoteServer>,
  parts: Omit<RemoteOptions, 'name' | 'settings'>,
): RemoteTools {
  const remotes = new Map([...servers].map(([name, settings]) => [name, openRemote({ name, settings, ...parts })]))
  return {
    has: (server) => remotes.has(server),
    tools: (wanted) => [...wanted].flatMap((server) => remotes.get(server)?.tools() ?? []),
    call(tool, args, signal) {
      const remote = remotes.get(tool.server)
      if (remote === undefined) throw new Error(`there is no remote MCP server ${tool.server}`)
      return remote.call(tool, args, signal)
    },
    async close() {
      await Promise.all([...remotes.values()].map((remote) => remote.close()))
    },
  }
}
