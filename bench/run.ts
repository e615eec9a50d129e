/** `npm run bench`: measures, prints a table, writes bench/results.json. Every figure stands beside its floor of the same run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { busRows, type Row } from './bus.ts'
import { deepMailbox, throughput, waiters, wakeUps } from './mailbox.ts'
import { startParley } from './server.ts'

if (process.argv.includes('--help')) {
  console.log(
    'npm run bench [-- --quick]   about two and a half minutes; --quick about one, with fewer rounds and a smaller mailbox',
  )
  process.exit(0)
}
const quick = process.argv.includes('--quick')
const base = mkdtempSync(join(tmpdir(), 'parley-bench-'))
const folder = () => mkdtempSync(join(base, 'run-'))
const began = performance.now()
const say = (text: string) =>
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}\n`)

const rows: Row[] = []

try {
  say('throughput against the floors')
  const t = await throughput(folder, quick ? { rounds: 1, seconds: 1.5 } : { rounds: 3, seconds: 2 })
  const send = t.floorHttp + t.floorSend
  const check = t.floorHttp + t.floorCheck
  const share = (what: string, floor: number, time: number, target: number) =>
    rows.push({
      what,
      measured: `${((100 * floor) / time).toFixed(0)} % (${time.toFixed(0)} µs a call, floor ${floor.toFixed(0)} µs, ${Math.round(1e6 / time)}/s)`,
      target: `≥ ${target} %`,
      reached: (100 * floor) / time >= target,
    })
  share('`send_to_agent`, plain JSON-RPC', send, t.plain, 65)
  share('`send_to_agent` on a session', send, t.session, 60)
  share('`send_to_agent`, 2026-07-28', send, t.modern, 60)
  share('`check_mail`, full mailbox', check, t.check, 60)

  const many = quick ? 100_000 : 1_000_000
  say(`a mailbox of ${many.toLocaleString('en')}`)
  const { deep, shallow } = await deepMailbox(folder(), { many, few: 1000 })
  rows.push({
    what: `a pop with ${many.toLocaleString('en')} unread behind it`,
    measured: `${(deep / shallow).toFixed(2)} × (${deep.toFixed(2)} ms, with 1,000: ${shallow.toFixed(2)} ms)`,
    target: '≤ 1.3 ×',
    reached: deep / shallow <= 1.3,
  })

  say('wake-ups')
  const storage = folder()
  const [one, other] = [await startParley(storage), await startParley(storage)]
  const samples = quick ? 150 : 500
  const here = await wakeUps(one, one, samples)
  const there = await wakeUps(one, other, samples)
  await Promise.all([one.stop(), other.stop()])
  rows.push(
    {
      what: 'send → waiting `check_mail` has its answer',
      measured: `p50 ${here.p50.toFixed(2)} ms, p99 ${here.p99.toFixed(2)} ms`,
      target: 'p50 ≤ 3 ms, p99 ≤ 15 ms',
      reached: here.p50 <= 3 && here.p99 <= 15,
    },
    {
      what: 'the same, other process on the same file',
      measured: `p50 ${there.p50.toFixed(2)} ms, p99 ${there.p99.toFixed(2)} ms`,
      target: 'p50 ≤ 8 ms',
      reached: there.p50 <= 8,
    },
  )

  say('1,000 waiting calls')
  const w = await waiters(folder(), 1000, quick ? 3 : 10)
  rows.push(
    {
      what: '1,000 waiting `check_mail`: memory',
      measured: `${w.more.toFixed(0)} MB more`,
      target: '≤ 40 MB',
      reached: w.more <= 40,
    },
    {
      what: '1,000 waiting `check_mail`: CPU',
      measured: `${w.cpuPercent.toFixed(1)} % of a core`,
      target: 'not measurable',
      reached: w.cpuPercent < 1,
    },
    { what: 'idle memory', measured: `${w.idle.toFixed(0)} MB`, target: '≤ 120 MB', reached: w.idle <= 120 },
    {
      what: 'start to ready',
      measured: `${w.startedIn.toFixed(0)} ms`,
      target: '≤ 1000 ms',
      reached: w.startedIn <= 1000,
    },
  )

  rows.push(...(await busRows(quick, (text) => say(`bus: ${text}`))))
} finally {
  rmSync(base, { recursive: true, force: true })
}

const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${release()}, Node ${process.version}`
console.log(`\n| | measured | target | |\n|---|---|---|---|`)
for (const { what, measured, target, reached } of rows)
  console.log(`| ${what} | ${measured} | ${target} | ${reached ? '✓' : '✗'} |`)
console.log(`\n${machine}${quick ? ', --quick' : ''}; ${((performance.now() - began) / 1000).toFixed(0)} s`)
// A quick run is for a look; the results that are kept come from a whole one.
if (!quick)
  writeFileSync(
    fileURLToPath(new URL('results.json', import.meta.url)),
    `${JSON.stringify({ machine, rows }, undefined, 2)}\n`,
  )
