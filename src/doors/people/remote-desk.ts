/** The desk of people by a server: each question is a request, and the answer is the server's own document. */
import { HubError } from '../../base/errors.ts'
import type {
  Answered,
  Desk,
  Directory,
  Follower,
  Found,
  MadeTopic,
  MailList,
  Receipt,
  Traced,
  WaitingList,
  WholeMessage,
} from '../words/desk.ts'

interface RemoteEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: unknown
}

/** The way to the server. Both throw what it refuses as the error that it is. */
export interface Remote {
  now(): number
  ask(path: string, body?: object): Promise<unknown>
  /** Ends where the stream is cut off, and throws SERVER_UNAVAILABLE where nobody answers. */
  events(path: string, last: string | undefined, signal: AbortSignal): AsyncIterable<RemoteEvent>
  pause(ms: number, signal: AbortSignal): Promise<void>
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

export function remoteDesk(remote: Remote): Desk {
  const get = async <Document>(path: string, query: Query): Promise<Document> =>
    (await remote.ask(withQuery(path, query))) as Document
  const post = async <Document>(path: string, body: object): Promise<Document> =>
    (await remote.ask(path, body)) as Document
  return {
    now: () => remote.now(),
    inbox: (wish) => get<MailList>('/people/inbox', { ...wish }),
    threads: (wish) => get<MailList>('/people/threads', { ...wish }),
    read: (id) => get<WholeMessage>('/people/message', { id }),
    trace: (id) => get<Traced>('/people/trace', { id }),
    search: (wish) => get<Found>('/people/search', { ...wish }),
    agents: (wish) => get<Directory>('/people/agents', { ...wish }),
    waiting: () => get<WaitingList>('/people/waiting', {}),
    send: (sending) => post<Receipt>('/people/send', sending),
    reply: (answer) => post<Answered>('/people/reply', answer),
    createTopic: (topic) => post<MadeTopic>('/people/topics', topic),
    follow: (wish, follower) => follow(remote, withQuery('/people/watch', { ...wish }), follower),
    close: async () => {},
  }
}

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** Between two tries while the server is away: soon at first, then less often. */
const [firstMs, longestMs] = [250, 10_000]

/** Resolves once the server follows. A stream that breaks is opened again where it ended: nothing is missed or told twice. */
async function follow(remote: Remote, path: string, follower: Follower): Promise<() => void> {
  const ending = new AbortController()
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>()
  let [last, isThere, waitMs]: [string | undefined, boolean, number] = [undefined, false, firstMs]

  async function listen(): Promise<void> {
    for await (const { event, id, data } of remote.events(path, last, ending.signal)) {
      if (last !== undefined && !isThere) await follower.note('The server is there again.')
      isThere = true
      waitMs = firstMs
      if (event === 'message') await follower.tell(data as Parameters<Follower['tell']>[0])
      if (event === 'message' || last === undefined) last = id
      resolve()
    }
  }

  async function keepListening(): Promise<void> {
    while (!ending.signal.aborted) {
      await listen().catch((error: unknown) => {
        const away = error instanceof HubError && error.code === 'SERVER_UNAVAILABLE'
        if (last === undefined || !away) throw error
      })
      if (ending.signal.aborted) return
      if (isThere) await follower.note('The server is away. Trying again, until Ctrl-C.')
      isThere = false
      await remote.pause(waitMs, ending.signal)
      waitMs = Math.min(2 * waitMs, longestMs)
    }
  }

  keepListening().catch((error: unknown) => {
    if (ending.signal.aborted) return
    reject(error)
    follower.failed(error)
  })
  await begun
  return () => ending.abort()
}
