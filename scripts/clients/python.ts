/** Clients in Python, where there is one: the official one, and FastMCP's, of today and of the version that many still have. */
import { fileURLToPath } from 'node:url'
import { install } from '../../bench/peers/python.ts'
import { type Client, mustHave, runToEnd } from './client.ts'
import type { Parley } from './parley.ts'

const script = fileURLToPath(new URL('visit.py', import.meta.url))

async function pythonClient(
  { name, version, eras, typed = false }: { name: string; version: string; eras: readonly string[]; typed?: boolean },
  { folder }: Parley,
  say: (text: string) => void,
): Promise<Client> {
  const { python, env } = await install({ name, version, module: name }, say)
  const around = { env: { PATH: process.env.PATH, HOME: folder, ...env }, cwd: folder }
  return {
    name: `${name} ${version} (Python)`,
    eras,
    async visit({ at, tool, args, answer, resource, from }, era) {
      const calls = typed ? (from?.calls ?? []) : []
      const visit = JSON.stringify({ client: name, at, era, tool, args, uri: resource?.uri ?? null, calls })
      const printed = await runToEnd(python, [script, visit], around)
      const { result, read, data } = JSON.parse(printed) as { result: string; read: string; data: string }
      mustHave(result, answer)
      if (typed && from) mustHave(data, from.data)
      if (resource) mustHave(read, resource.has)
    },
  }
}

export const official = (parley: Parley, say: (text: string) => void) =>
  pythonClient({ name: 'mcp', version: '2.3.0', eras: ['legacy', 'auto', '2026-07-28'] }, parley, say)

export const fastmcp = (parley: Parley, say: (text: string) => void) =>
  pythonClient({ name: 'fastmcp', version: '4.1.2', eras: ['its own'] }, parley, say)

/** The one that the mailbox was first written for: it makes Python types of output schemas. */
export const fastmcp2 = (parley: Parley, say: (text: string) => void) =>
  pythonClient({ name: 'fastmcp', version: '2.14.7', eras: ['its own'], typed: true }, parley, say)
