/** Makes once for a run what each test copies: PostgreSQL (or the server that TEST_DATABASE_URL names) and databases with Parley's tables. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { systemClock } from '../../src/base/clock.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/all.ts'
import { openDb } from '../../src/db/open.ts'
import { startPostgres } from './postgres.ts'
import { type PostgresReset, writeReset } from './postgres-reset.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
    /** The name of a database on that server, to make others from. */
    postgresTemplate: string
    postgresReset: PostgresReset
    /** A file to copy. */
    sqliteTemplate: string
  }
}

export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  const server = given ? { url: given, stop: async () => {} } : await startPostgres()
  const folder = await mkdtemp(join(tmpdir(), 'parley-template-'))
  const file = join(folder, 'parley.sqlite3')
  await makeTables(`sqlite:${file}`)
  const name = `parley_template_${randomBytes(6).toString('hex')}`
  await connected(server.url, (client) => client.query(`CREATE DATABASE ${name}`))
  await makeTables(databaseAt(server.url, name))
  provide('postgresReset', await connected(databaseAt(server.url, name), writeReset))
  provide('postgresUrl', server.url)
  provide('postgresTemplate', name)
  provide('sqliteTemplate', file)
  return async () => {
    if (given) await dropAll(server.url, name)
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function makeTables(url: string): Promise<void> {
  const db = await openDb(url)
  await migrate(db, migrations, systemClock)
  await db.close()
}

async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The template, and its copies. */
async function dropAll(url: string, template: string): Promise<void> {
  await connected(url, async (client) => {
    const { rows } = await client.query('SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [template])
    for (const { datname } of rows) await client.query(`DROP DATABASE ${datname} WITH (FORCE)`)
  })
}

function databaseAt(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = name
  return url.href
}
