/** Starts PostgreSQL once for a run of the tests, or takes the server that TEST_DATABASE_URL names. */
import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
  }
}

export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  if (given) {
    provide('postgresUrl', given)
    return async () => {}
  }
  const server = await startPostgres()
  provide('postgresUrl', server.url)
  return server.stop
}
