/** Generated projects with mail, topics and grants, every kind of caller, and the plain model of what each of them may read. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import {
  agentCaller,
  auditorCaller,
  type Caller,
  housekeeper,
  local,
  operator,
  person,
  tokenCaller,
} from '../../src/core/access/callers.ts'
import { ensureAgent } from '../../src/core/agents/agents.ts'
import { createKey } from '../../src/core/agents/keys.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { send } from '../../src/core/messages/send.ts'
import { findEventPosition, followPageEvents } from '../../src/core/pages/events.ts'
import { searchTopics } from '../../src/core/search/topics.ts'
import { createGrant } from '../../src/core/threads/grants.ts'
import { join } from '../../src/core/topics/members.ts'
import { remark } from '../../src/core/topics/remarks.ts'
import { createTopic, type Topic } from '../../src/core/topics/topics.ts'

export const projects = ['/srv/one', '/srv/two'] as const
const homes = [0, 0, 0, 1, 1] as const

export interface Agent {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly project: string
  readonly keyed: boolean
}

/** A message as the model knows it. */
export interface Said {
  readonly id: number
  /** The project and the name of its thread. */
  readonly project: string
  readonly thread: string
  readonly topic: boolean
  readonly sender: Agent
  readonly open: readonly Agent[]
  readonly blind: readonly Agent[]
  readonly sha1: string
  readonly threadUid: string
}

export interface Who {
  readonly label: string
  readonly caller: Caller
  /** Whose mail it reads. */
  readonly of: 'all' | 'keyless' | Agent
  /** Whether the pages tell it of all blind copies. */
  readonly blind: boolean
  /** The agents that it acts as. */
  acts(agent: Agent): boolean
  readonly exports: boolean
}

export interface World {
  readonly hub: Hub
  readonly agents: readonly Agent[]
  readonly callers: readonly Who[]
  readonly said: readonly Said[]
  /** The members of a topic, by its uid. */
  readonly joined: ReadonlyMap<string, readonly Agent[]>
  readonly grants: readonly { readonly thread: string; readonly by: Agent; readonly to: Agent }[]
  /** The messages that open pages were told of, by the label of the caller. */
  readonly told: ReadonlyMap<string, ReadonlySet<number>>
}

const who = fc.nat({ max: homes.length - 1 })
const group = fc.uniqueArray(who, { maxLength: 2 })

export const plans = fc.record({
  keyed: fc.array(fc.boolean(), { minLength: homes.length, maxLength: homes.length }),
  joins: fc.uniqueArray(who, { maxLength: 3 }),
  mail: fc.array(
    fc.record({
      from: who,
      to: fc.uniqueArray(who, { minLength: 1, maxLength: 2 }),
      cc: group,
      bcc: group,
      thread: fc.constantFrom('A', 'B', undefined),
    }),
    {
      minLength: 2,
      maxLength: 6,
    },
  ),
  remarks: fc.array(who, { maxLength: 2 }),
  grants: fc.array(fc.record({ by: who, to: who, thread: fc.nat({ max: 5 }) }), { maxLength: 3 }),
})

export type Plan = typeof plans extends fc.Arbitrary<infer Value> ? Value : never

const keyless = { of: 'keyless', acts: ({ keyed }: Agent) => !keyed, exports: false } as const
const whole = { of: 'all', blind: true, acts: () => true } as const

const callersOf = (agents: readonly Agent[]): Who[] => [
  { label: 'local', caller: local, ...keyless, blind: true, exports: true },
  { label: 'person', caller: person, ...keyless, blind: true, acts: () => false, exports: true },
  { label: 'writer', caller: tokenCaller('token:w', true), ...keyless, blind: false },
  { label: 'reader', caller: tokenCaller('token:r', false), ...keyless, blind: false },
  { label: 'operator', caller: operator, ...whole, exports: true },
  { label: 'hub', caller: housekeeper, ...whole, exports: true },
  { label: 'auditor', caller: auditorCaller('a'), ...whole, exports: false },
  ...agents.map((agent) => ({
    label: agent.name,
    caller: agentCaller(agent),
    of: agent,
    blind: false,
    acts: (other: Agent) => other === agent,
    exports: false,
  })),
]

export async function build(hub: Hub, plan: Plan): Promise<World> {
  const agents: Agent[] = []
  for (const [index, at] of homes.entries()) {
    const [project, name, keyed] = [projects[at], `Agent${index}`, plan.keyed[index] ?? false]
    const made = await ensureAgent(hub, local, { project, name, policy: 'open' })
    if (keyed) await createKey(hub, { caller: operator, project, name })
    agents.push({ id: made.id, projectId: made.projectId, name, project, keyed })
  }
  const of = (index: number) => agents[index] as Agent
  const callers = callersOf(agents)
  const topics = new Map<string, Topic>()
  for (const project of projects)
    topics.set(project, await createTopic(hub, local, project, { name: `topic of ${project}`, mode: 'new' }))
  const joined = new Map<string, Agent[]>()
  for (const agent of plan.joins.map(of)) {
    const topic = topics.get(agent.project) as Topic
    const holder = { caller: operator, project: agent.project, key: `url:${agent.name}` }
    await join(hub, holder, { topic, name: agent.name, token: undefined })
    joined.set(topic.uid, [...(joined.get(topic.uid) ?? []), agent])
  }
  const said: Said[] = []
  const told = new Map(callers.map(({ label }) => [label, new Set<number>()]))
  const note = async (one: Said, since: string) => {
    said.push(one)
    for (const { label, caller } of callers) {
      const tell = ({ messageId }: { messageId: number | undefined }) =>
        messageId !== undefined && told.get(label)?.add(messageId)
      ;(await followPageEvents(hub, caller, { since, tell }))()
    }
  }
  for (const [index, { from, to, cc, bcc, thread }] of plan.mail.entries()) {
    const sender = of(from)
    const [toIds, ccIds] = [to, cc.filter((one) => !to.includes(one))]
    const bccIds = bcc.filter((one) => !to.includes(one) && !cc.includes(one))
    const addressed = (kind: 'to' | 'cc' | 'bcc', ids: readonly number[]) =>
      ids.map((one) => ({ name: of(one).name, project: of(one).project, kind }))
    const { since } = await findEventPosition(hub, operator)
    const key = thread && `${thread}-${sender.project.slice(-3)}`
    const { messageId, threadUid } = await send(
      hub,
      { caller: operator, project: sender.project, name: sender.name },
      {
        to: [...addressed('to', toIds), ...addressed('cc', ccIds), ...addressed('bcc', bccIds)],
        thread: key,
        subject: `zebra ${index}`,
        body: `about zebra ${index}`,
        enclosing: { paths: [`data:text/plain,zebra-${index}`] },
      },
    )
    const sha1 = createHash('sha1').update(`zebra-${index}`).digest('hex')
    const [open, blind] = [[...toIds, ...ccIds].map(of), bccIds.map(of)]
    const place = { project: sender.project, thread: key ?? String(messageId), topic: false }
    await note({ id: messageId, ...place, sender, open, blind, sha1, threadUid }, since)
  }
  for (const [index, from] of plan.remarks.entries()) {
    const sender = of(from)
    const topic = topics.get(sender.project) as Topic
    const { since } = await findEventPosition(hub, operator)
    const acting = { caller: operator, project: sender.project, name: sender.name }
    await remark(hub, acting, { topic, outgoing: { body: `zebra remark ${index}`, kind: 'message' } })
    const { hits } = await searchTopics(hub, operator, sender.project, { query: `"zebra remark ${index}"` })
    const place = { project: sender.project, thread: topic.uid, topic: true }
    await note({ id: hits[0]?.id ?? 0, ...place, sender, open: [], blind: [], sha1: '', threadUid: topic.uid }, since)
  }
  const grants: { thread: string; by: Agent; to: Agent }[] = []
  const threads = [...new Set(said.map(({ thread }) => thread))]
  for (const { by, to, thread: at } of plan.grants) {
    const [granter, holder, thread] = [of(by), of(to), threads[at]]
    if (thread === undefined) continue
    const wish = { agent: { name: holder.name, project: holder.project }, thread, can: 'read', ttlMs: 1e6 } as const
    // An agent that takes no part in a thread cannot grant it.
    const made = await createGrant(hub, { caller: agentCaller(granter) }, wish).catch(() => undefined)
    if (made !== undefined) grants.push({ thread, by: granter, to: holder })
  }
  return { hub, agents, callers, said, joined, grants, told }
}

const isAgent = (of: Who['of']): of is Agent => typeof of === 'object'

/** The part of an agent that others may know of. */
const hasOpenPart = (agent: Agent, { sender, open }: Said): boolean => sender === agent || open.includes(agent)

const projectsOf = ({ project, sender, open }: Said): readonly string[] => [
  project,
  ...[sender, ...open].map((one) => one.project),
]

/** The plain rules. Each list, count, event and file has to agree with them. */
export const model = {
  /** Whether the tools show a message, looked at in a project. */
  atTools({ agents }: World, { of }: Who, message: Said, project: string): boolean {
    if (isAgent(of) && of.project !== project) return false
    return projectsOf(message).includes(project) && model.isOpenTo(agents, of, message)
  },
  isOpenTo(agents: readonly Agent[], of: Who['of'], message: Said): boolean {
    if (isAgent(of)) return message.topic ? of.project === message.project : hasOpenPart(of, message)
    if (of === 'all' || message.topic) return true
    return agents.some((agent) => !agent.keyed && hasOpenPart(agent, message))
  },
  /** The two columns of the pages. */
  isListed: ({ agents }: World, { of }: Who, message: Said): boolean =>
    !isAgent(of) || message.blind.includes(of) || model.isOpenTo(agents, of, message),
  isReadable: ({ agents }: World, { of }: Who, message: Said): boolean =>
    (isAgent(of) && message.blind.includes(of)) || model.isOpenTo(agents, of, message),
  /** The recipients of blind copies that the pages name. */
  namedBlind: ({ of, blind }: Who, { sender, blind: agents }: Said): readonly Agent[] =>
    agents.filter((agent) => blind || of === agent || of === sender),
  /** A file by its hash: also of a blind copy in an inbox that the caller may open. */
  hasFile: (world: World, who: Who, message: Said): boolean =>
    model.isReadable(world, who, message) || (who.of === 'keyless' && message.blind.some(({ keyed }) => !keyed)),
  /** At the hub: its own, the topics that it joined, and what a granter has of a thread. */
  atHub({ joined, grants }: World, { of }: Who, message: Said): boolean {
    if (!isAgent(of)) return of === 'all'
    const isTheirs = (agent: Agent) =>
      hasOpenPart(agent, message) || joined.get(message.thread)?.includes(agent) === true
    const granters = grants.filter(({ thread, to }) => thread === message.thread && to === of).map(({ by }) => by)
    return message.blind.includes(of) || [of, ...granters].some(isTheirs)
  },
  projectOf: ({ of }: Who, { project }: Said): string => (isAgent(of) ? of.project : project),
  isInProject: (message: Said, project: string): boolean => projectsOf(message).includes(project),
}
