/** Every way to read messages, each as what a caller finds and what the model says; doors only phrase these verbs. */
import { HubError } from '../../src/base/errors.ts'
import { listRecentCommits } from '../../src/core/archive/commits.ts'
import { readConversation } from '../../src/core/mail/history.ts'
import { listInbox, listOutbox } from '../../src/core/mail/inbox.ts'
import { listBox } from '../../src/core/pages/agent-mail.ts'
import { showMessage } from '../../src/core/pages/message.ts'
import { searchMail } from '../../src/core/pages/search.ts'
import { showThread } from '../../src/core/pages/threads.ts'
import { listAllMail } from '../../src/core/pages/unified-inbox.ts'
import { searchProject } from '../../src/core/search/project.ts'
import { readByHash } from '../../src/core/threads/attachments.ts'
import { viewThread } from '../../src/core/threads/hub-threads.ts'
import { needMessage, readThread } from '../../src/core/threads/mail-threads.ts'
import { summarizeThread } from '../../src/core/threads/summaries.ts'
import { exportProject } from '../../src/core/transfers/exporting.ts'
import { type Agent, model, projects, type Said, type Who, type World } from './sight-world.ts'

export interface Way {
  found(world: World, who: Who): Promise<unknown[]>
  expected(world: World, who: Who): unknown[]
}

/** A refusal and a missing message both count as nothing. */
const orNothing = async <T>(call: Promise<T>): Promise<T | undefined> => {
  try {
    return await call
  } catch (error) {
    if (error instanceof HubError) return undefined
    throw error
  }
}

async function each<One>(list: readonly One[], look: (one: One) => Promise<readonly unknown[]>): Promise<unknown[]> {
  const found: unknown[] = []
  for (const one of list) found.push(...(await look(one)))
  return found
}

const limit = 100
const all = 'zebra'
const threadsOf = ({ said }: World): string[] => [...new Set(said.map(({ thread }) => thread))]

/** For each project: what the tools show there. */
const inProjects = (world: World, who: Who, tell: (project: string, message: Said) => unknown): unknown[] =>
  projects.flatMap((project) =>
    world.said
      .filter((message) => model.atTools(world, who, message, project))
      .map((message) => tell(project, message)),
  )

const sealed = (id: number, isSealed: boolean): string => `${id}${isSealed ? ' sealed' : ''}`
const asListed = (world: World, who: Who, message: Said): string =>
  sealed(message.id, !model.isReadable(world, who, message))

const acting = ({ caller }: Who, { project, name }: Agent) => ({ caller, project, name, registered: true })
const isGotBy = (agent: Agent, { open, blind }: Said): boolean => open.includes(agent) || blind.includes(agent)

export const ways: Readonly<Record<string, Way>> = {
  'a message by its id': {
    found: ({ hub, said }, { caller }) =>
      each(projects, (project) =>
        each(said, async ({ id }) =>
          (await orNothing(needMessage(hub, caller, project, id))) ? [`${project} ${id}`] : [],
        ),
      ),
    expected: (world, who) => inProjects(world, who, (project, { id }) => `${project} ${id}`),
  },
  'a thread': {
    found: (world, { caller }) =>
      each(projects, (project) =>
        each(threadsOf(world), async (key) => {
          const thread = await orNothing(readThread(world.hub, caller, project, { key, limit }))
          return (thread?.messages ?? []).map(({ id }) => `${project} ${id}`)
        }),
      ),
    expected: (world, who) => inProjects(world, who, (project, { id }) => `${project} ${id}`),
  },
  'a search': {
    found: ({ hub }, { caller }) =>
      each(projects, async (project) => {
        const found = await orNothing(searchProject(hub, caller, project, { query: all, limit }))
        return (found?.hits ?? []).map(({ id }) => `${project} ${id}`)
      }),
    expected: (world, who) => inProjects(world, who, (project, { id }) => `${project} ${id}`),
  },
  'the count of a summary': {
    found: (world, { caller }) =>
      each(projects, (project) =>
        each(threadsOf(world), async (key) => {
          const thread = await orNothing(summarizeThread(world.hub, caller, { project, key, refine: false }))
          return Array.from({ length: thread?.totalMessages ?? 0 }, () => `${project} ${key}`)
        }),
      ),
    expected: (world, who) => inProjects(world, who, (project, { thread }) => `${project} ${thread}`),
  },
  'a file by its hash': {
    found: ({ hub, said }, { caller }) =>
      each(
        said.filter(({ topic }) => !topic),
        async ({ id, sha1 }) => ((await orNothing(readByHash(hub, caller, { sha1 }))) ? [id] : []),
      ),
    expected: (world, who) =>
      world.said.flatMap((message) => (!message.topic && model.hasFile(world, who, message) ? [message.id] : [])),
  },
  'the commits of an agent': {
    found: ({ hub, agents }, { caller }) =>
      each(agents, async ({ project, name }) => {
        const commits = await orNothing(listRecentCommits(hub, caller, project, { name, limit }))
        return (commits ?? []).map(({ sha }) => `${name} ${sha}`)
      }),
    expected: (world, who) =>
      world.agents.flatMap((agent) =>
        world.said.flatMap((message) => {
          const isTheirs = message.sender === agent || message.open.includes(agent)
          const seen = !message.topic && isTheirs && model.atTools(world, who, message, agent.project)
          return seen ? [`${agent.name} sha-${message.id}`] : []
        }),
      ),
  },
  'inboxes and outboxes': {
    found: ({ hub, agents }, who) =>
      each(agents, async (agent) => [
        ...((await orNothing(listInbox(hub, acting(who, agent), { limit })))?.messages ?? []).map(
          ({ id }) => `to ${agent.name} ${id}`,
        ),
        ...((await orNothing(listOutbox(hub, acting(who, agent), { limit })))?.messages ?? []).map(
          ({ id }) => `from ${agent.name} ${id}`,
        ),
      ]),
    expected: ({ agents, said }, who) =>
      agents
        .filter((agent) => who.acts(agent))
        .flatMap((agent) =>
          said
            .filter(({ topic }) => !topic)
            .flatMap((message) => [
              ...(isGotBy(agent, message) ? [`to ${agent.name} ${message.id}`] : []),
              ...(message.sender === agent ? [`from ${agent.name} ${message.id}`] : []),
            ]),
        ),
  },
  'the list of the pages': {
    found: async ({ hub }, { caller }) =>
      (await listAllMail(hub, caller, { limit })).items.map((one) => sealed(one.id, one.sealed)),
    expected: (world, who) =>
      world.said
        // An agent has its topics on pages of their own.
        .filter((message) => model.isListed(world, who, message) && !(typeof who.of === 'object' && message.topic))
        .map((message) => asListed(world, who, message)),
  },
  'a message on its page, with its blind copies': {
    found: ({ hub, said }, who) =>
      each(said, async (message) => {
        const shown = await orNothing(showMessage(hub, who.caller, model.projectOf(who, message), message.id))
        if (shown === undefined) return []
        const blind = shown.states.filter(({ kind }) => kind === 'bcc').map(({ name }) => name)
        return [[sealed(shown.id, shown.sealed), shown.body === undefined, shown.subject === '', ...blind.sort()]]
      }),
    expected: (world, who) =>
      world.said
        .filter((message) => model.isListed(world, who, message))
        .map((message) => {
          const hidden = !model.isReadable(world, who, message)
          const blind = model.namedBlind(who, message).map(({ name }) => name)
          return [asListed(world, who, message), hidden, hidden, ...blind.sort()]
        }),
  },
  'a thread on its page, with its count and its participants': {
    found: (world, who) =>
      each(typeof who.of === 'object' ? [who.of.project] : projects, (project) =>
        each(threadsOf(world), async (thread) => {
          const shown = await orNothing(showThread(world.hub, who.caller, project, { thread, limit }))
          if (shown === undefined) return []
          const { count, participants } = shown
          const names = participants.map(({ name }) => name).sort()
          const messages = shown.messages.map((one) => `${project} ${sealed(one.id, one.sealed)}`)
          return [...messages, `${project} ${thread}: ${count}, ${names.join()}`]
        }),
      ),
    expected: (world, who) =>
      (typeof who.of === 'object' ? [who.of.project] : projects).flatMap((project) =>
        threadsOf(world).flatMap((thread) => {
          const listed = world.said.filter((one) => one.thread === thread && model.isListed(world, who, one))
          const here = listed.filter((message) => model.isInProject(message, project))
          const named = listed.flatMap((one) => [one.sender, ...one.open, ...model.namedBlind(who, one)])
          const names = new Set([...named, ...(world.joined.get(thread) ?? [])].map(({ name }) => name))
          const about = `${project} ${thread}: ${listed.length}, ${[...names].sort().join()}`
          const messages = here.map((message) => `${project} ${asListed(world, who, message)}`)
          return here.length === 0 ? [] : [...messages, about]
        }),
      ),
  },
  'the search of the pages, its total and its facets': {
    found: async ({ hub }, { caller }) => {
      const { results, total, facets } = await searchMail(hub, caller, { query: all, limit })
      const counted = facets.importance.reduce((sum, { count }) => sum + count, 0)
      return [...results.map((one) => sealed(one.id, one.sealed)), `total ${total}`, `counted ${counted}`]
    },
    expected: (world, who) => {
      const read = world.said.filter((message) => model.isReadable(world, who, message))
      return [...read.map(({ id }) => sealed(id, false)), `total ${read.length}`, `counted ${read.length}`]
    },
  },
  'the boxes of the pages': {
    found: ({ hub, agents }, { caller }) =>
      each(agents, ({ project, name }) =>
        each(['inbox', 'outbox'] as const, async (box) => {
          const found = await orNothing(listBox(hub, caller, project, { name, box, limit }))
          return (found?.items ?? []).map((one) => `${box} ${name} ${sealed(one.id, one.sealed)}`)
        }),
      ),
    expected: (world, who) =>
      world.agents
        .filter((agent) => typeof who.of === 'string' || who.of === agent)
        .flatMap((agent) =>
          world.said
            .filter(({ topic }) => !topic)
            .flatMap((message) => {
              const got = message.open.includes(agent) || model.namedBlind(who, message).includes(agent)
              const text = `${agent.name} ${asListed(world, who, message)}`
              return [...(got ? [`inbox ${text}`] : []), ...(message.sender === agent ? [`outbox ${text}`] : [])]
            }),
        ),
  },
  'the events of the pages': {
    found: async ({ told }, { label }) => [...(told.get(label) ?? [])],
    expected: (world, who) => world.said.filter((message) => model.isListed(world, who, message)).map(({ id }) => id),
  },
  'a thread at the hub': {
    found: ({ hub, said }, who) =>
      each(said, async (message) => {
        const hubCaller = { caller: who.caller, ...(typeof who.of === 'string' && { project: message.project }) }
        const page = await orNothing(viewThread(hub, hubCaller, { thread: message.thread, after: 0, limit }))
        return page?.messages.some(({ id }) => Number(id) === message.id) ? [message.id] : []
      }),
    expected: (world, who) => world.said.filter((message) => model.atHub(world, who, message)).map(({ id }) => id),
  },
  'an export': {
    found: ({ hub }, { caller }) =>
      each(projects, async (project) => {
        const ids: number[] = []
        const write = async (record: { type: string; id?: unknown }) =>
          void (record.type === 'message' && ids.push(Number(record.id)))
        await orNothing(exportProject(hub, caller, { project, files: false, write }))
        return ids
      }),
    expected: ({ said }, { exports }) => (exports ? said.map(({ id }) => id) : []),
  },
  'a conversation': {
    found: ({ hub, agents, said }, who) =>
      each(agents, (agent) =>
        each(said, async (message) => {
          if (message.topic) return []
          const history = await orNothing(readConversation(hub, acting(who, agent), { uid: message.threadUid, limit }))
          return history?.messages.some(({ id }) => id === message.id) ? [`${agent.name} ${message.id}`] : []
        }),
      ),
    expected: ({ agents, said }, who) =>
      agents
        .filter((agent) => who.acts(agent))
        .flatMap((agent) =>
          said
            .filter((message) => !message.topic && (message.sender === agent || isGotBy(agent, message)))
            .map(({ id }) => `${agent.name} ${id}`),
        ),
  },
}
