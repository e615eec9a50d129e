/** The part of the public surface that only a running server knows: its paths, its metrics, and the tables that others may read. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { pino } from 'pino'
import { startServer } from '../../src/app/serve.ts'
import { loadConfig } from '../../src/settings/read.ts'
import type { Surface } from './statements.ts'

/** Others may read them, and never write them. */
export const readTables = ['agents', 'deliveries', 'leases', 'messages', 'projects', 'threads'] as const

export async function runningSurface(): Promise<Surface> {
  const storage = await mkdtemp(join(tmpdir(), 'parley-surface-'))
  const paths = new Set<string>()
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', (route) => {
      for (const path of pathsOf(route)) paths.add(path)
    })
  }
  subscribe('fastify.initialization', watch)
  const env = { HOME: storage, STORAGE_ROOT: storage, HTTP_PORT: '0', ARCHIVE_ENABLED: 'false' }
  const server = await startServer(loadConfig(env), pino({ level: 'silent' }))
  unsubscribe('fastify.initialization', watch)
  try {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return { offers: [...paths, ...metricsIn(metrics), ...columnsIn(join(storage, 'parley.sqlite3'))], demands: [] }
  } finally {
    await server.stop()
    await rm(storage, { recursive: true, force: true })
  }
}

/** A route of several methods is one that refuses them. */
const pathsOf = ({ method, url }: RouteOptions): string[] => (Array.isArray(method) ? [] : [`path ${method} ${url}`])

const metricsIn = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (parley_\S+) (\S+)$/gm)].map(([, name, type]) => `metric ${name}: ${type}`)

function columnsIn(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true })
  const columns = readTables.flatMap((table) =>
    db
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => `table ${table}.${name}`),
  )
  db.close()
  return columns
}
