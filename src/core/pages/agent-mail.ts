/** The inbox or outbox of one agent, as people see it. */
import { listBox as listRows } from '../../store/pages/message-lists.ts'
import type { Caller } from '../access/callers.ts'
import { mayOpenBox, pageSight } from '../access/rules.ts'
import { noAgent } from '../agents/agents.ts'
import { type Profile, whois } from '../agents/profiles.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject, type Project } from '../projects/projects.ts'
import { listPageMessages, type Page, type PageMessage, pageOf } from './page-message.ts'

interface BoxWish {
  readonly box: 'inbox' | 'outbox'
  readonly unread?: boolean | undefined
  /** From 1; with `before` the pages are counted from there. */
  readonly page?: number | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly limit: number
}

export interface Boxed extends PageMessage {
  readonly kind: 'to' | 'cc' | 'bcc' | undefined
  readonly readAt: number | undefined
  readonly ackedAt: number | undefined
}

export interface Box extends Page<Boxed> {
  readonly agent: Profile
  readonly project: Project
}

/** An agent sees its own boxes: those of others are not there. */
export async function listBox(
  hub: Hub,
  caller: Caller,
  project: string,
  { name, box, unread = false, page = 1, before, after, limit }: BoxWish & { readonly name: string },
): Promise<Box> {
  const home = await needProject(hub, caller, project)
  const agent = await whois(hub, caller, project, name)
  if (!mayOpenBox(caller, agent)) throw await noAgent(hub, caller, { home, name, reason: 'no_agent' })
  const sight = pageSight(caller)
  const query = { agentId: agent.id, box, unread, sight, offset: (page - 1) * limit, limit: limit + 1 }
  const rows = await listRows(reader(hub), { ...query, below: before, above: after })
  const { items, next } = pageOf(rows, limit, ({ id }) => id)
  const messages = await listPageMessages(
    hub,
    sight,
    items.map(({ id }) => id),
  )
  const byId = new Map(items.map((row) => [row.id, row]))
  return {
    project: home,
    agent,
    items: messages.map((message) => {
      const row = byId.get(message.id)
      return {
        ...message,
        kind: row?.kind ?? undefined,
        readAt: row?.read_at ?? undefined,
        ackedAt: row?.acked_at ?? undefined,
      }
    }),
    next,
  }
}
