/** How an engine would carry out what a list asks for. */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Db, Reader, Tx } from '../../src/db/port.ts'

export interface PlanOptions {
  /** Ways that PostgreSQL does without here: tables of a test are so small that it would rather read them whole. */
  readonly without?: readonly ('seqscan' | 'bitmapscan' | 'hashjoin' | 'mergejoin')[]
}

/**
 * One text for all statements of a list. PostgreSQL plans the first five calls of a statement for their values; those that follow
 * get one plan for any values, if it promises to cost no more. Both have to be good.
 */
export async function plansOf(
  db: Db,
  ask: (reader: Reader) => Promise<unknown>,
  { without = [] }: PlanOptions = {},
): Promise<string[]> {
  const asked: Sql[] = []
  await ask({
    dialect: db.dialect,
    all(query) {
      asked.push(query)
      return db.all(query)
    },
  })
  return db.tx(async (tx) => {
    if (tx.dialect === 'sqlite') return [await joined(asked, (query) => tx.all(sql`EXPLAIN QUERY PLAN ${query}`))]
    for (const way of without) await tx.all(raw(`SET LOCAL enable_${way} = off`))
    return [
      await joined(asked, (query) => tx.all(sql`EXPLAIN ${query}`)),
      await joined(asked, (query) => explainPrepared(tx, query)),
    ]
  })
}

type Step = Record<string, string>

async function joined(queries: readonly Sql[], explain: (query: Sql) => Promise<Step[]>): Promise<string> {
  const steps: string[] = []
  for (const query of queries) for (const row of await explain(query)) steps.push(row.detail ?? row['QUERY PLAN'] ?? '')
  return steps.join('\n')
}

async function explainPrepared(tx: Tx, { text, values }: Sql): Promise<Step[]> {
  const literal = (value: unknown) => (value === null ? 'NULL' : `'${String(value).replaceAll("'", "''")}'`)
  await tx.all(raw(`PREPARE looked_at AS ${text}`))
  const given = values.length === 0 ? '' : `(${values.map(literal)})`
  let steps: Step[] = []
  for (let call = 0; call < 7; call++) steps = await tx.all<Step>(raw(`EXPLAIN EXECUTE looked_at${given}`))
  await tx.all(sql`DEALLOCATE looked_at`)
  return steps
}
