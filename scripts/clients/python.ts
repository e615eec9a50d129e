/** Clients in Python, where there is one: the official one, and FastMCP's. */
import { fileURLToPath } from 'node:url'
import { install } from '../../bench/peers/python.ts'
import { type Client, mustHave, runToEnd } from './client.ts'
import type { Parley } from './parley.ts'

const script = fileURLToPath(new URL('visit.py', import.meta.url))

async function pythonClient(
  { name, version, eras }: { name: string; version: string; eras: readonly string[] },
  { folder }: Parley,
  say: (text: string) => void,
): Promise<Client> {
  const { python, env } = await install({ name, version, module: name }, say)
  const around = { env: { PATH: process.env.PATH, HOME: folder, ...env }, cwd: folder }
  return {
    name: `${name} ${version} (Python)`,
    eras,
    async visit({ at, tool, args, answer, resource }, era) {
      const visit = JSON.stringify({ client: name, at, era, tool, args, uri: resource?.uri ?? null })
      const printed = await runToEnd(python, [script, visit], around)
      const { result, read } = JSON.parse(printed) as { result: string; read: string }
      mustHave(result, answer)
      if (resource) mustHave(read, resource.has)
    },
  }
}

export const official = (parley: Parley, say: (text: string) => void) =>
  pythonClient({ name: 'mcp', version: '2.3.0', eras: ['legacy', 'auto', '2026-07-28'] }, parley, say)

export const fastmcp = (parley: Parley, say: (text: string) => void) =>
  pythonClient({ name: 'fastmcp', version: '4.1.2', eras: ['its own'] }, parley, say)
