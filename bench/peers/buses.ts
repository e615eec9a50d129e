/** Buses over stdio, a process for each agent: Parley's, and agent-bus-mcp. */
import { join } from 'node:path'
import { version } from '../../src/app/version.ts'
import { type BusProcess, speakTo, startBus } from '../bus-process.ts'
import { type House, type Member, persist, type System } from './member.ts'
import { install } from './python.ts'

export const parleyBus = (folder: () => string): System => ({
  name: 'Parley, `parley bus`',
  version,
  licence: 'MIT',
  notes: [
    'SQLite, WAL; a message is on the disk before its answer. A commit rings a bell beside the file, and those who wait look then.',
  ],
  open: async () => {
    const storage = folder()
    return openBus(() => startBus(storage))
  },
})

export async function agentBus(folder: () => string, say: (text: string) => void): Promise<System> {
  const wanted = { name: 'agent-bus-mcp', version: '0.5.0', with: ['mcp<2'], module: 'agent_bus._core' }
  const { bin, licence, env, notes } = await install(wanted, say)
  return {
    name: wanted.name,
    version: wanted.version,
    licence,
    notes: [
      'SQLite, WAL; a trace of its system calls shows that a message is on the disk before its answer, as with Parley. Those who wait look again after 250 ms, 500 ms, then every second (its defaults).',
      'It would also make embeddings of messages for its semantic search; they are off here (`AGENT_BUS_EMBEDDINGS_AUTOINDEX=0`), since Parley makes none.',
      'Installed with `mcp<2`: it does not start with mcp 2, which its own bounds allow.',
      ...notes,
    ],
    open: async () => {
      const storage = folder()
      return openBus(() =>
        speakTo([join(bin, 'agent-bus')], {
          env: {
            PATH: process.env.PATH ?? '',
            HOME: storage,
            AGENT_BUS_DB: join(storage, 'bus.sqlite'),
            AGENT_BUS_EMBEDDINGS_AUTOINDEX: '0',
            ...env,
          },
          cwd: storage,
          errors: 'ignore',
        }),
      )
    },
  }
}

/** Both speak the same tools: everybody is in one topic, and `sync` writes, reads and waits. */
function openBus(start: () => Promise<BusProcess>): House {
  const processes: BusProcess[] = []
  const refused = { count: 0 }
  return {
    get refusedJoins() {
      return refused.count
    },
    get started() {
      return processes.map(({ startedIn }) => startedIn)
    },
    get pids() {
      return processes.map(({ pid }) => pid)
    },
    async join(agent_name): Promise<Member> {
      const bus = await start()
      processes.push(bus)
      const made = await persist(refused, () => bus.call('topic_create', { name: 'bench' }))
      const topic_id = /"topic_id":"([^"]+)"/.exec(made)?.[1] ?? ''
      await persist(refused, () => bus.call('topic_join', { agent_name, topic_id }))
      return {
        send: async (_to, content_markdown) => {
          await bus.call('sync', { topic_id, wait_seconds: 0, max_items: 20, outbox: [{ content_markdown }] })
        },
        receive: () => bus.call('sync', { topic_id, wait_seconds: 60, max_items: 20 }),
      }
    },
    close: async () => {
      await Promise.all(processes.map((bus) => bus.stop()))
    },
  }
}
