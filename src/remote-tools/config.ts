/** The file that names the MCP servers whose tools are offered here: read at the start, and wrong as a whole or not at all. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'

const serverName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$/

const common = {
  allow: z.array(z.string().min(1)).max(200),
  timeout_seconds: z.number().min(0.1).max(600).default(30),
  max_bytes: z
    .int()
    .min(1024)
    .max(16 << 20)
    .default(262_144),
}

const texts = z.record(z.string(), z.string())

const overHttp = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  headers: texts.default({}),
  ...common,
})

const overStdio = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  ...common,
})

const file = z.strictObject({ servers: z.record(z.string().regex(serverName), z.union([overHttp, overStdio])) })

/** One server of others, and what of it is offered here. */
export type RemoteServer = z.output<typeof overHttp> | z.output<typeof overStdio>

/** Throws with the reason, which holds nothing of the file but names: it has credentials in it. */
export function readServersFile(path: string): ReadonlyMap<string, RemoteServer> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new Error('is not JSON')
  }
  const { data, error } = file.safeParse(json)
  if (data === undefined) {
    const [issue] = error.issues
    throw new Error(`is invalid at ${JSON.stringify(issue?.path.join('.') ?? '')}`)
  }
  // Its tools would be taken for Parley's own.
  if (Object.hasOwn(data.servers, 'apm2'))
    throw new Error('names a server "apm2", a name that is reserved for Parley’s own tools')
  return new Map(Object.entries(data.servers))
}
