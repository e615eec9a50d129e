/** Two projects with agents who hold keys and agents who do not, mail between them, topics and leases: what the matrix is tried on. */
import { createHash } from 'node:crypto'
import { agentCaller, auditorCaller, type Caller, local, operator, tokenCaller } from '../../src/core/access/callers.ts'
import { hashKey } from '../../src/core/access/keys.ts'
import type { Acting } from '../../src/core/agents/acting.ts'
import { type Agent, ensureAgent } from '../../src/core/agents/agents.ts'
import { invite } from '../../src/core/agents/invitations.ts'
import { createKey } from '../../src/core/agents/keys.ts'
import { requestConnection } from '../../src/core/contact-requests/connecting.ts'
import { requestContact } from '../../src/core/contact-requests/requests.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { publicIds } from '../../src/core/hub/public-ids.ts'
import { reserve } from '../../src/core/leases/leases.ts'
import { take } from '../../src/core/mail/take.ts'
import { send } from '../../src/core/messages/send.ts'
import { grantServer } from '../../src/core/remote-tools/grants.ts'
import { createGrant } from '../../src/core/threads/grants.ts'
import { join } from '../../src/core/topics/members.ts'
import { remark } from '../../src/core/topics/remarks.ts'
import { createTopic, type Topic } from '../../src/core/topics/topics.ts'
import { now } from '../support/hub.ts'
import type { Case } from './matrix.ts'

/** The thing that a call asks for. */
export interface Target {
  readonly caller: Caller
  readonly project: string
  /** Whose it is. */
  readonly name: string
  /** An agent of the same kind in the same project, who wrote to it. */
  readonly other: string
  /** From `other`, in the thread of this key, acknowledged by nobody. */
  readonly messageId: number
  /** Of its attachment. */
  readonly sha1: string
  readonly messageUid: string
  readonly threadUid: string
  /** Of a request for contact that waits for its answer. */
  readonly code: string
  /** The public id of a connection request to this agent that has no code. */
  readonly connection: string
  /** Another one, to be denied. */
  readonly denied: string
  /** Of the key of the agent that has one. */
  readonly keyHash: string
  /** A message to `other`, which was not answered. */
  readonly askedId: number
  /** Lets `other` read the thread. */
  readonly grant: string
  /** On the server `tickets`, for it. */
  readonly serverGrant: string
  /** An agent that has nothing to do with it. */
  readonly stranger: string
  readonly thread: string
  readonly word: string
  readonly lent: { readonly clientId: string; readonly loan: string }
  readonly topic: Topic
  /** The code of an invitation for `${name}Guest`. */
  readonly invitation: string
  /** Tells the holder of the name from others. */
  readonly holder: string
}

interface Pair {
  readonly project: string
  readonly name: string
  readonly other: string
}

const pairs = {
  keyless: { project: '/srv/home', name: 'GreenCastle', other: 'BlueLake' },
  keyed: { project: '/srv/home', name: 'RedStone', other: 'GoldHill' },
  away: { project: '/srv/away', name: 'WhiteRiver', other: 'BlackForest' },
} as const satisfies Record<string, Pair>

/** Everything is made first and keys are given last: until then a local caller may act as anybody. */
export async function createWorld(hub: Hub): Promise<(of: Case) => Target> {
  const made = {
    keyless: await furnish(hub, pairs.keyless),
    keyed: await furnish(hub, pairs.keyed),
    away: await furnish(hub, pairs.away),
  }
  const stranger = await ensureAgent(hub, local, { project: '/srv/home', name: 'SilverPine', policy: 'auto' })
  const { key } = await createKey(hub, { caller: local, project: '/srv/home', name: pairs.keyed.name })
  for (const name of [pairs.keyed.other, stranger.name])
    await createKey(hub, { caller: local, project: '/srv/home', name })
  const [own, foreign] = [agentCaller(made.keyed.agent), agentCaller(stranger)]
  // A key takes the name from its holders: the owner joins again.
  const { topic, holder, name } = made.keyed.target
  await join(hub, { caller: own, project: '/srv/home', key: holder }, { topic, name, token: undefined })
  const targets: Readonly<Record<Case, Omit<Target, 'keyHash'>>> = {
    localKeyless: { caller: local, ...made.keyless.target },
    localKeyed: { caller: local, ...made.keyed.target },
    operator: { caller: operator, ...made.keyed.target },
    itself: { caller: own, ...made.keyed.target },
    another: { caller: foreign, ...made.keyed.target },
    elsewhere: { caller: foreign, ...made.away.target },
    itselfReading: { caller: { ...own, readOnly: true }, ...made.keyed.target },
    writerKeyless: { caller: tokenCaller('token:w', true), ...made.keyless.target },
    writerKeyed: { caller: tokenCaller('token:w', true), ...made.keyed.target },
    readerKeyless: { caller: tokenCaller('token:r', false), ...made.keyless.target },
    readerKeyed: { caller: tokenCaller('token:r', false), ...made.keyed.target },
    auditor: { caller: auditorCaller('a'), ...made.keyed.target },
  }
  return (of) => ({ ...targets[of], keyHash: hashKey(key) })
}

async function furnish(
  hub: Hub,
  { project, name, other }: Pair,
): Promise<{ agent: Agent; target: Omit<Target, 'caller' | 'keyHash'> }> {
  const agent = await ensureAgent(hub, local, { project, name, policy: 'auto' })
  await ensureAgent(hub, local, { project, name: other, policy: 'auto' })
  const as = (name: string): Acting => ({ caller: local, project, name, registered: true })
  await requestContact(hub, as(other), { to: { name }, reason: 'to try it' })
  const word = `word${name.toLowerCase()}`
  const [asker, stranger] = [`${name}Asker`, `${name}Stranger`]
  const [suitor, unwanted] = [`${name}Suitor`, `${name}Unwanted`]
  for (const one of [asker, stranger, suitor, unwanted])
    await ensureAgent(hub, local, { project, name: one, policy: 'auto' })
  const { code = '' } = await requestConnection(hub, as(asker), { to: { name } })
  const idOf = await publicIds(hub)
  const askedBy = async (from: string) => idOf('contact', (await requestContact(hub, as(from), { to: { name } })).id)
  const [connection, denied] = [await askedBy(suitor), await askedBy(unwanted)]
  const guest = { project, name: `${name}Guest`, door: 'mailbox', ttlMs: 600_000 } as const
  const { code: invitation } = await invite(hub, operator, guest)
  const thread = `T-${name}`
  const draft = { to: [{ name }], subject: 'plan', thread, ackRequired: true }
  const lent = await take(hub, as(name), { ...now, loanMs: 600_000 })
  const enclosing = { paths: [`data:text/plain,hello-${name}`] }
  const { messageId, uid, threadUid } = await send(hub, as(other), { ...draft, enclosing, body: `about ${word}` })
  const asked = await send(hub, as(name), { to: [{ name: other }], body: 'hello?' })
  const wish = { agent: { name: other }, thread, can: 'read', ttlMs: 600_000 } as const
  const toCall = { agent: { name }, server: 'tickets', ttlMs: 600_000 }
  const serverGrant = await grantServer(hub, { caller: operator, project }, toCall)
  const grant = await createGrant(hub, { caller: agentCaller(agent) }, wish)
  await reserve(hub, as(name), {
    patterns: [`src/${name}.ts`],
    exclusive: true,
    reason: '',
    ttlMs: 600_000,
    onConflict: 'grant',
  })
  const topic = await createTopic(hub, local, project, { name: `topic of ${name}`, mode: 'new' })
  const holder = `url:${name.toLowerCase()}`
  await join(hub, { caller: local, project, key: holder }, { topic, name, token: undefined })
  await remark(hub, as(other), { topic, outgoing: { body: `said ${word}`, kind: 'message' } })
  const { clientId = '', loan = '' } = lent?.mail ?? {}
  const named = {
    project,
    name,
    other,
    stranger,
    code,
    invitation,
    connection,
    denied,
    messageId,
    sha1: createHash('sha1').update(`hello-${name}`).digest('hex'),
    messageUid: uid,
    threadUid,
    askedId: asked.messageId,
    grant: grant.id,
    serverGrant: serverGrant.id,
    thread,
    word,
    topic,
    holder,
  }
  return { agent, target: { ...named, lent: { clientId, loan } } }
}
