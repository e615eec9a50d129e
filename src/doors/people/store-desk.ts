/** The desk of people by the store: the verbs of the pages, in the words of mail. */
import type { Caller } from '../../core/access/callers.ts'
import { needHome } from '../../core/agents/agents.ts'
import { listAllAgents } from '../../core/agents/profiles.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { listBox } from '../../core/pages/agent-mail.ts'
import { followMail } from '../../core/pages/follow-mail.ts'
import { readMessage, type ShownMessage } from '../../core/pages/message.ts'
import { sendAsOverseer } from '../../core/pages/overseer.ts'
import { answerMessage } from '../../core/pages/person-answers.ts'
import { searchMail } from '../../core/pages/search.ts'
import { traceMessage } from '../../core/pages/trace.ts'
import { listAllMail, listAllThreads } from '../../core/pages/unified-inbox.ts'
import { describeReach } from '../../core/presence/reach.ts'
import { listWaiting } from '../../core/presence/waiting-agents.ts'
import { createTopic } from '../../core/topics/topics.ts'
import { marked } from '../../fulltext/excerpt.ts'
import { addressIn, parseAddress } from '../words/addresses.ts'
import type { Desk, InboxWish, MailList, MailWords, WholeMessage } from '../words/desk.ts'
import { toBoxed, toMessage, toRecipient, toSentReceipt } from '../words/page-mail.ts'
import { toProfile } from '../words/profiles.ts'
import { toReach } from '../words/reach.ts'
import { iso } from '../words/times.ts'
import { topicWords } from '../words/topics.ts'
import { toTrace } from '../words/trace.ts'

/** `close` closes the hub. */
export function storeDesk(hub: Hub, caller: Caller): Desk {
  return {
    now: () => hub.clock.now(),
    inbox: (wish) => (wish.name === undefined ? allMail(hub, caller, wish) : boxOf(hub, caller, wish.name, wish)),
    async threads(wish) {
      const { items, next } = await listAllThreads(hub, caller, wish)
      return toList(
        items.map((item) => ({ ...toMessage(item), count: item.count })),
        next,
      )
    },
    read: async (id) => toWhole(await readMessage(hub, caller, id)),
    trace: async (id) => toTrace(await traceMessage(hub, caller, id)),
    async search({ query, project, limit, page, newest }) {
      const order = newest ? 'time' : 'relevance'
      const { results, total, capped, next, note, suggestion } = await searchMail(hub, caller, {
        query,
        project,
        limit,
        page,
        order,
      })
      const hits = results.map((hit) => ({
        ...toMessage(hit),
        snippet: marked(hit.snippet),
        text: hit.snippet.text,
        score: hit.score,
      }))
      return {
        query,
        results: hits,
        total,
        capped,
        next_page: next ?? null,
        note: note ?? null,
        suggestion: suggestion ?? null,
      }
    },
    async agents({ project, limit, within }) {
      const activeWithinMs = within === undefined ? undefined : within * 60_000
      const { agents, more } = await listAllAgents(hub, caller, { project, limit, activeWithinMs })
      const reaches = await describeReach(hub, caller, agents)
      const shown = agents.map((agent) => {
        const reach = reaches.get(agent.id)
        return { ...toProfile(agent), ...(reach && { reach: toReach(reach) }) }
      })
      return { agents: shown, count: shown.length, has_more: more }
    },
    async waiting() {
      const agents = await listWaiting(hub, caller)
      return { agents: agents.map((agent) => ({ ...agent, via: agent.via ?? null })), count: agents.length }
    },
    async send({ to, ...composed }) {
      return toSentReceipt(await sendAsOverseer(hub, caller, { ...composed, recipients: to }))
    },
    async reply({ id, body }) {
      const { messageId, project, thread } = await answerMessage(hub, caller, { messageId: id, body })
      return { message_id: messageId ?? null, project, thread_id: thread }
    },
    async createTopic({ name, project }) {
      const before = hub.clock.now()
      const topic = await createTopic(hub, caller, project, { name, mode: 'reuse' })
      return { ...topicWords(topic, iso), created: topic.createdAt >= before }
    },
    async follow(wish, { tell }) {
      const { leave } = await followMail(hub, caller, { ...wish, tell: (message) => tell(toMessage(message)) })
      return leave
    },
    close: () => hub.close(),
  }
}

async function allMail(hub: Hub, caller: Caller, wish: InboxWish): Promise<MailList> {
  const { items, next } = await listAllMail(hub, caller, wish)
  return toList(items.map(toMessage), next)
}

async function boxOf(hub: Hub, caller: Caller, called: string, wish: InboxWish): Promise<MailList> {
  const { sent, unread, limit, before } = wish
  const [name, home = wish.project] = parseAddress(called)
  const project = home ?? (await needHome(hub, caller, name))
  const box = sent ? 'outbox' : 'inbox'
  const { items, next } = await listBox(hub, caller, project, { name, box, unread, limit, before })
  return toList(items.map(toBoxed), next)
}

const toList = (messages: readonly MailWords[], next: number | undefined): MailList => ({
  messages,
  count: messages.length,
  has_more: next !== undefined,
  next_before: next ?? null,
})

const toWhole = (message: ShownMessage): WholeMessage => ({
  ...toMessage(message),
  topic: message.topic ?? null,
  body_md: message.body ?? '',
  bcc: message.bcc.map(addressIn(message.project)),
  recipients: message.states.map(toRecipient),
  reply_to: message.replyTo ?? null,
  thread: message.around.map(toMessage),
})
