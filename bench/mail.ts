/** Measures of the mail door, beside its throughput: deep inboxes, many leases, the size of its tools. */
import { openClient, percentile } from './client.ts'
import type { Row } from './rows.ts'
import { benchProject, leaveUnsearched, seedLeases, seedMail } from './seed-mail.ts'
import { startParley } from './server.ts'

export interface MailOptions {
  /** How many messages the deepest inbox holds. */
  readonly many: number
  readonly samples: number
}

/** A store that Parley has made, filled behind its back: an inbox of so many messages, one of 10,000, and 10,000 leases. */
export async function makeMailStore(storage: string, many: number): Promise<void> {
  await (await startParley(storage)).stop()
  seedMail(storage, [many, 10_000])
  leaveUnsearched(storage)
  seedLeases(storage, 10_000)
}

export async function mailRows(
  storage: string,
  { many, samples }: MailOptions,
  say: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = []
  const deep = many.toLocaleString('en')
  say(`inboxes of ${deep} and 10,000`)
  const parley = await startParley(storage)
  const client = await openClient(parley.port, '', '/mcp')
  const times = { deep: [] as number[], shallow: [] as number[], lease: [] as number[] }
  const timed = async (list: number[], tool: string, args: Record<string, unknown>, expected: string) => {
    const began = performance.now()
    const answer = await client.call(tool, { project_key: benchProject, ...args })
    list.push(performance.now() - began)
    if (!answer.includes(expected)) throw new Error(`${tool} brought ${answer.slice(0, 300)}`)
  }
  const read = (list: number[], agent_name: string) =>
    timed(list, 'fetch_inbox', { agent_name, limit: 20, include_bodies: true }, 'build is green')
  for (let n = 0; n < 300; n++) await read([], n % 2 === 0 ? 'Agent0' : 'Agent1')
  for (let n = 0; n < samples; n++) {
    await read(times.deep, 'Agent0')
    await read(times.shallow, 'Agent1')
  }
  const [far, near] = [percentile(times.deep, 50), percentile(times.shallow, 50)]
  rows.push({
    what: `\`fetch_inbox\` from ${deep} messages, against 10,000`,
    measured: `${(far / near).toFixed(2)} × (${far.toFixed(2)} ms, ${near.toFixed(2)} ms)`,
    target: '≤ 1.3 ×',
    reached: far / near <= 1.3,
  })

  say('reservations against 10,000 leases')
  for (let n = 0; n < samples; n++) {
    const paths = [`src/part${n % 100}/*.ts`, `lib/new${n}/**`]
    await timed(
      times.lease,
      'file_reservation_paths',
      { agent_name: 'Agent2', paths, ttl_seconds: 60 },
      '"conflicts":[{',
    )
  }
  const p95 = percentile(times.lease, 95)
  rows.push({
    what: '`file_reservation_paths` against 10,000 leases',
    measured: `p50 ${percentile(times.lease, 50).toFixed(2)} ms, p95 ${p95.toFixed(2)} ms`,
    target: 'p95 ≤ 5 ms',
    reached: p95 <= 5,
  })
  client.close()
  const sizes = await Promise.all(['', '?tools=core', '?tools=macros'].map((query) => listSize(parley.port, query)))
  await parley.stop()
  rows.push({
    what: 'characters of `tools/list`: all / core / macros',
    measured: sizes.map((size) => size.toLocaleString('en')).join(' / '),
    target: 'all < 24,000',
    reached: (sizes[0] ?? 0) < 24_000,
  })
  return rows
}

async function listSize(port: number, query: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  const { result } = (await response.json()) as { result: unknown }
  return JSON.stringify(result).length
}
