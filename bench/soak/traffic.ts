/**
 * Mixed traffic of every door, as a process of its own: told a port, for how many seconds, and which share of its time each
 * pair is to ask, it says what it was answered.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { openListen } from '../hub.ts'
import { openStream } from '../open-pages.ts'
import { openSession } from '../phrase.ts'
import { connectPair, named, openSocket, register } from '../post.ts'
import { text } from '../text.ts'
import { type Counts, type Lane, openLane } from './lane.ts'

/** Pairs of agents of each door that talk at once. */
const pairs = { mailbox: 8, mail: 6, hub: 4, post: 6, bus: 4, pages: 2 }

type Door = keyof typeof pairs

/** One round of a pair: a few calls, one after the other. */
type Round = (count: number) => Promise<unknown>

/** Prepares a pair for its first round; each lane is a connection. */
type Open = (port: number, pair: number, lane: () => Promise<Lane>) => Promise<Round>

const project = '/srv/soak'
const letters = ['Alder', 'Birch', 'Cedar', 'Elm', 'Fir', 'Hazel']
const slugOf = (answer: string): string => /"slug":"([^"]+)"/.exec(answer)?.[1] ?? ''
const idOf = (answer: string, field: string): string => new RegExp(`"${field}":"?([^",}]+)`).exec(answer)?.[1] ?? ''

/** Every so many rounds. */
const [seldom, rarely] = [10, 200]

const doors: Record<Door, Open> = {
  /** A reader that waits, and its sender; some messages are lent, and acknowledged by the next call. */
  mailbox: async (_port, pair, lane) => {
    const [one, other] = [await lane(), await lane()]
    let after: string | undefined
    return async (count) => {
      const lent = count % seldom === 0 ? { lease_seconds: 60 } : {}
      const [taken] = await Promise.all([
        one.call(`/agents/soak-reader-${pair}/mcp`, 'check_mail', { wait_seconds: 5, after, ...lent }),
        other.call(`/agents/soak-sender-${pair}/mcp`, 'send_to_agent', { name: `soak-reader-${pair}`, msg: text }),
      ])
      after = /"result":\{"id":"([^"]+)"/.exec(taken)?.[1]
    }
  },

  /** Threads of twenty messages between two agents, with what coding agents do beside. */
  mail: async (_port, pair, lane) => {
    const one = await lane()
    // Two capitalised words each, as names of coding agents are.
    const [project_key, me, peer] = [project, `Green${letters[pair]}`, `Blue${letters[pair]}`]
    const tool = (name: string, args: object) => one.call('/mcp', name, { project_key, ...args })
    await one.call('/mcp', 'ensure_project', { human_key: project })
    for (const name of [me, peer]) await tool('register_agent', { program: 'soak', model: 'soak', name })
    for (const name of [me, peer]) await tool('set_contact_policy', { agent_name: name, policy: 'open' })
    const picture = await sharp({ create: { width: 320, height: 200, channels: 3, background: 'teal' } })
      .png()
      .toBuffer()
    return async (count) => {
      const thread_id = `soak-${pair}-${Math.floor(count / 20)}`
      const images =
        count % rarely === 0 ? { attachment_paths: [`data:image/png;base64,${picture.toString('base64')}`] } : {}
      const subject = `Message ${count}`
      const sent = await tool('send_message', {
        sender_name: me,
        to: [peer],
        subject,
        body_md: text,
        thread_id,
        ...images,
      })
      const message_id = idOf(sent, 'message_id')
      await tool('fetch_inbox', { agent_name: peer, limit: 20, include_bodies: true })
      await tool('mark_message_read', { agent_name: peer, message_id: Number(message_id) })
      if (count % seldom === 0) {
        await tool('reply_message', { message_id: Number(message_id), sender_name: peer, body_md: text })
        await tool('search_messages', { query: `build ${count}`, limit: 10 })
        await tool('file_reservation_paths', { agent_name: me, paths: [`src/part${pair}/*.ts`], ttl_seconds: 60 })
        await tool('release_file_reservations', { agent_name: me })
      }
    }
  },

  /** A thread that is followed and read; another begins every so often. */
  hub: async (port, pair, lane) => {
    const one = await lane()
    const at = (agent: string) => `/hub/mcp?agent=hub-${agent}-${pair}`
    let thread = ''
    let followed: { end(): void } | undefined
    return async (count) => {
      if (count % rarely === 0) {
        followed?.end()
        thread = idOf(
          await one.call(at('one'), 'apm2.message.send', { to: `hub-other-${pair}`, text: 'begin' }),
          'thread',
        )
        followed = await openListen(`http://127.0.0.1:${port}${at('other')}`, `apm2://threads/${thread}`)
      }
      await one.call(at('one'), 'apm2.message.send', { to: `hub-other-${pair}`, text, thread })
      if (count % seldom === 0) await one.call(at('other'), 'apm2.thread.read', { thread, limit: 20 })
    }
  },

  /** Connected agents with keys; the reader has a WebSocket, opened anew every so often. */
  post: async (port, pair, lane) => {
    const one = await lane()
    const names = named(`soak-post-${pair}`, 2)
    const [alice = '', bob = ''] = await register({ port }, names)
    const [, to = ''] = names
    await connectPair({ port }, alice, { key: bob, name: to })
    let socket = await openSocket(port, bob)
    return async (count) => {
      if (count % rarely === 0) {
        socket.terminate()
        socket = await openSocket(port, bob)
      }
      const subject = `Subject ${Math.floor(count / 20) % 50}`
      await one.post('/messages/send', { to, subject, content: text }, { 'X-API-Key': alice })
      if (count % seldom === 0) await one.get('/inbox', { 'X-API-Key': bob })
    }
  },

  /** Two peers of a topic, each in a session of its own; another topic every so often. */
  bus: async (port, pair, lane) => {
    const [one, other] = [await lane(), await lane()]
    const sessions = [await openSession(port, '/bus/mcp'), await openSession(port, '/bus/mcp')]
    const peers = [one, other].map(
      (lane, n) => (tool: string, args: object) => lane.call('/bus/mcp', tool, args, sessions[n]),
    )
    let topic_id = ''
    return async (count) => {
      if (count % rarely === 0)
        for (const [n, peer] of peers.entries()) {
          topic_id = idOf(await peer('topic_create', { name: `soak-${pair}-${count}` }), 'topic_id')
          await peer('topic_join', { agent_name: `soak-peer-${pair}-${n}`, topic_id })
        }
      await Promise.all(
        peers.map((peer, n) =>
          peer('sync', {
            topic_id,
            ...(n === 0 ? { outbox: [{ content_markdown: text }], wait_seconds: 0 } : { wait_seconds: 2 }),
          }),
        ),
      )
    }
  },

  /** A person who leafs through the pages while streams of others are open. */
  pages: async (port, _pair, lane) => {
    const one = await lane()
    const slug = slugOf(await one.call('/mcp', 'ensure_project', { human_key: project }))
    const stream = await openStream(port, slug)
    const paths = [
      '',
      '/unified-inbox',
      `/${slug}`,
      `/${slug}/threads`,
      `/${slug}/inbox/Blue${letters[0]}`,
      `/${slug}/thread/soak-0-0`,
      '/search?q=build',
      `/${slug}/activity`,
    ]
    stream.onChange = () => {}
    return (count) => one.get(`/mail${paths[count % paths.length]}`, { accept: 'text/html', 'accept-encoding': 'br' })
  },
}

const [port = 0, seconds = 60, share = 1] = process.argv.slice(2).map(Number)
const until = performance.now() + seconds * 1000
const counts: Record<string, Counts> = {}

async function run(door: Door, pair: number): Promise<void> {
  const seen = counts[door] ?? { calls: 0, errors: 0 }
  counts[door] = seen
  const round = await doors[door](port, pair, () => openLane(port, seen))
  for (let count = 0; performance.now() < until; count++) {
    const from = performance.now()
    await round(count)
    if (share < 1) await sleep((performance.now() - from) * (1 / share - 1))
  }
}

await Promise.all(
  (Object.keys(pairs) as Door[]).flatMap((door) => Array.from({ length: pairs[door] }, (_, pair) => run(door, pair))),
)
console.log(JSON.stringify(counts))
process.exit(0)
