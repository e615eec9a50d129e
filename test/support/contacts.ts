/** Agents with contact policies for tests, what they send each other, and what came of it in one word. */

import sql from 'sql-template-tag'
import { HubError } from '../../src/base/errors.ts'
import { local } from '../../src/core/access/callers.ts'
import { type ContactPolicy, ensureAgent } from '../../src/core/agents/agents.ts'
import { requestContact, respondContact } from '../../src/core/contact-requests/requests.ts'
import type { Rules } from '../../src/core/hub/hub.ts'
import { type Draft, send } from '../../src/core/messages/send.ts'
import type { Db } from '../../src/db/port.ts'
import { TestClock } from './clock.ts'
import { openTestHub, registered, usualRules } from './hub.ts'

export const day = 86_400_000

const home = '/srv/project'

export async function openContacts(db: Db, contacts: Partial<Rules['contacts']> = {}, clock = new TestClock()) {
  const rules = { ...usualRules, contacts: { ...usualRules.contacts, ...contacts } }
  const hub = await openTestHub(db, { clock, rules })
  const as = (name: string, project = home) => registered(name, project)
  return {
    hub,
    clock,
    as,
    /** Agents by name, each with its policy. */
    async people(policies: Record<string, ContactPolicy>, project = home) {
      for (const [name, policy] of Object.entries(policies)) await ensureAgent(hub, local, { project, name, policy })
    },
    /** `delivered`, or the code of the error. */
    async mail(from: string, to: string, draft: Partial<Draft> = {}): Promise<string> {
      const sent = outcome(send(hub, as(from), { to: [{ name: to }], body: 'words', ...draft }))
      return (await sent) ?? 'delivered'
    },
    ask: (from: string, to: string, ttlMs?: number) =>
      requestContact(hub, as(from), { to: { name: to }, reason: 'we should talk', ttlMs }),
    answer: (me: string, from: string, accept: boolean, ttlMs?: number) =>
      respondContact(hub, as(me), { from: { name: from }, accept, ttlMs }),
    /** Each as `from>to status`, without a look at the clock. */
    links: async () =>
      (
        await db.all<{ link: string }>(sql`
          SELECT f.name || '>' || t.name || ' ' || c.status AS link FROM contacts c
          JOIN agents f ON f.id = c.from_id JOIN agents t ON t.id = c.to_id ORDER BY c.id`)
      ).map(({ link }) => link),
    /** The mail of an inbox: subjects, else bodies. */
    inbox: async (name: string) =>
      (
        await db.all<{ text: string }>(sql`
          SELECT COALESCE(m.subject, m.body) AS text FROM deliveries d JOIN messages m ON m.id = d.message_id
          JOIN agents a ON a.id = d.recipient_id WHERE a.name = ${name} ORDER BY d.id`)
      ).map(({ text }) => text),
    stored: async () => (await db.all(sql`SELECT id FROM messages WHERE kind = 'message'`)).length,
  }
}

/** The code of the error that comes of it, if one does. */
export async function outcome(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof HubError) return error.code
    throw error
  }
}
