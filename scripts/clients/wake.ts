/** `npm run clients -- --wake`: real clients, set up by `parley init`, are woken by mail while they are idle. */
import { fileURLToPath } from 'node:url'
import { build } from '../build.ts'
import { install } from './npm.ts'
import { wakeClients as allClients } from './wake/clients.ts'
import { wakeOpenclaw } from './wake/openclaw.ts'
import { keepWakes, type Woken, wakesTable } from './wake/results.ts'
import { Visit } from './wake/visit.ts'
import { openWorld } from './wake/world.ts'

interface Wish {
  /** Names of clients; all of them, where there are none. */
  readonly only: readonly string[]
  readonly records: boolean
  readonly quick: boolean
  readonly keeps: boolean
}

/** Prints a table; the exit code tells whether all held. */
export async function wakeClients({ only, records, quick, keeps }: Wish, say: (text: string) => void): Promise<void> {
  await build()
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const woken: Woken[] = []
  const failures: string[] = []
  for (const client of allClients.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const { program, version } = await install(client.package, client.version, client.bin ?? client.name, say)
    say(`waking ${client.name} ${version}`)
    const world = await openWorld(root, client, { program, records })
    const visit = new Visit(world, client, say)
    await (records ? visit.recorded(root) : quick ? visit.rounds() : visit.all()).catch(async (error: Error) => {
      visit.fail(error.message)
      say((await world.screen()).trimEnd())
    })
    await world.close()
    failures.push(...visit.failures.map((one) => `${client.name}: ${one}`))
    woken.push({ client: client.title, version, way: client.way, ms: visit.ms })
  }
  if (!records && (only.length === 0 || only.includes('openclaw'))) {
    const { program, version } = await install('openclaw', '2026.9.6', 'openclaw', say)
    say(`waking openclaw ${version}`)
    const { ms, failures: failed } = await wakeOpenclaw(root, { program, quick }, say)
    failures.push(...failed.map((one) => `openclaw: ${one}`))
    woken.push({ client: 'OpenClaw', version, way: '`/hooks/wake`, by `parley attach`', ms })
  }
  say(`\n${wakesTable(woken)}\n`)
  for (const failure of failures) say(`FAILED ${failure}`)
  if (keeps && failures.length === 0) keepWakes(root, woken)
  process.exitCode = failures.length === 0 ? 0 : 1
}
