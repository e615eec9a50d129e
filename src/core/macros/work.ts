/** Whole steps of an agent's work, made of other verbs; checks come first, so that a failure leaves little behind. */
import { HubError } from '../../base/errors.ts'
import type { Caller } from '../access/callers.ts'
import { mayOperate } from '../access/rules.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { listActiveOthers, type Profile, whois } from '../agents/profiles.ts'
import { type Introduction, type Registered, register } from '../agents/registration.ts'
import { requestContact, respondContact } from '../contact-requests/requests.ts'
import { type Contact, findPolicy, needOther, type Other } from '../contacts/links.ts'
import type { Hub } from '../hub/hub.ts'
import { checkPatterns, type Reserved, type Reserving, readPatterns, release, reserve } from '../leases/leases.ts'
import { type InboxWish, listInbox, type MailPage, type Received } from '../mail/inbox.ts'
import { type Draft, type Sent, send } from '../messages/send.ts'
import { noteOnKey } from '../projects/folders.ts'
import { findPlace, isNew, needProject, type Project } from '../projects/projects.ts'
import { type Refining, summarizeThread, type ThreadSummary } from '../threads/summaries.ts'

/** An agent under the name it had before, or a new one. */
type Newcomer = Introduction & { readonly name?: string | undefined }

type Wanted = Omit<Reserving, 'onConflict'>
type Page = Pick<InboxWish, 'limit' | 'bodies' | 'budget'>

const as = (caller: Caller, { project, name }: Profile): Acting => ({
  caller,
  project,
  name,
  registered: true,
})

interface Started {
  readonly project: Project
  /** About the folder that was named. */
  readonly note: string | undefined
  readonly registered: Registered
  readonly reserved: Reserved
  readonly inbox: MailPage<Received>
  /** The other agents that are active in the project. */
  readonly others: readonly Profile[]
}

/** Makes the project where it is new, registers the agent, reserves its files and shows its mail. */
export async function startWork(
  hub: Hub,
  caller: Caller,
  { newcomer, wanted, inbox }: { newcomer: Newcomer; wanted: Wanted; inbox: Page },
): Promise<Started> {
  // Patterns that cannot be read or compared are told before anybody is registered.
  const place = await findPlace(hub, caller, newcomer.project)
  const note = await noteOnKey(hub, caller, newcomer.project)
  if (isNew(place)) readPatterns(place.newKey, wanted.patterns)
  else await checkPatterns(hub, caller, place.slug, wanted.patterns)
  const registered = await register(hub, caller, newcomer)
  const me = as(caller, registered.profile)
  return {
    project: await needProject(hub, caller, me.project),
    note,
    registered,
    reserved:
      wanted.patterns.length === 0
        ? { granted: [], made: [], conflicts: [] }
        : await reserve(hub, me, { ...wanted, onConflict: 'grant' }),
    inbox: await listInbox(hub, me, inbox),
    others: await listActiveOthers(hub, caller, me.project, registered.profile),
  }
}

interface Preparation {
  /** The agent that prepares: registered by this, or already there. */
  readonly who: Newcomer | { readonly known: Pick<Acting, 'project' | 'name'> }
  readonly thread: string
  readonly refining: Refining
  /** The part of the inbox that has room beside what is told of the thread. */
  inbox(thread: ThreadSummary | undefined): Page
}

interface Prepared {
  readonly project: Project
  readonly registered: Registered
  /** Undefined if nobody has written to it yet: an agent may come before the first message. */
  readonly thread: ThreadSummary | undefined
  readonly inbox: MailPage<Received>
}

export async function prepareForThread(
  hub: Hub,
  caller: Caller,
  { who, thread, refining, inbox }: Preparation,
): Promise<Prepared> {
  const registered =
    'known' in who
      ? { profile: await whois(hub, caller, who.known.project, who.known.name) }
      : await register(hub, caller, who)
  const me = as(caller, registered.profile)
  const wish = { project: me.project, key: thread, ...refining }
  const summary = await summarizeThread(hub, caller, wish).catch(noneYet)
  return {
    project: await needProject(hub, caller, me.project),
    registered,
    thread: summary,
    inbox: await listInbox(hub, me, inbox(summary)),
  }
}

function noneYet(error: unknown): undefined {
  if (!(error instanceof HubError) || error.code !== 'THREAD_NOT_FOUND') throw error
}

/** Reserves only to see the holders in the way: earlier leases of the agent stay. */
export async function lookForConflicts(
  hub: Hub,
  acting: Acting,
  wanted: Wanted,
): Promise<{ reserved: Reserved; released: Awaited<ReturnType<typeof release>> }> {
  const reserved = await reserve(hub, acting, { ...wanted, onConflict: 'grant' })
  return { reserved, released: await release(hub, acting, { ids: reserved.made }) }
}

interface Handshake {
  readonly with: Other
  readonly reason?: string | undefined
  /** How long the request stands, and the contact lasts. */
  readonly ttlMs?: number | undefined
  /** Whether the other's answer is given for it. */
  readonly accept: boolean
  readonly welcome?: Pick<Draft, 'subject' | 'body'> | undefined
}

interface Shaken {
  readonly request: Contact
  readonly answer: Contact | undefined
  /** Whether an answer was wanted that is the other's own to give. */
  readonly left: boolean
  /** Sent only once contact is made. */
  readonly welcome: Sent | undefined
}

export async function shakeHands(
  hub: Hub,
  asker: Acting,
  { with: other, reason, ttlMs, accept, welcome }: Handshake,
): Promise<Shaken> {
  // Whether the answer may be given for the other is asked first: a refusal leaves no request behind.
  const answering = accept && (await mayAnswerFor(hub, asker, other))
  if (answering) await actAs(hub, inPlaceOf(other, asker))
  const request = await requestContact(hub, asker, { to: other, reason, ttlMs })
  const from = { name: asker.name, project: asker.project }
  const answer = answering ? await respondContact(hub, inPlaceOf(other, asker), { from, accept, ttlMs }) : undefined
  const made = (answer ?? request).status === 'approved'
  return {
    request,
    answer,
    left: accept && !made,
    welcome: made && welcome ? await send(hub, asker, { to: [other], ...welcome }) : undefined,
  }
}

/**
 * Only where a message of the asker would pass without an answer of the other, or for the operator: else a policy that
 * wants contact first would be worth nothing (mail.macro.answers).
 */
async function mayAnswerFor(hub: Hub, asker: Acting, other: Other): Promise<boolean> {
  // Where codes are hidden, an approval is the other's own to give (post.code.hidden).
  if (!hub.rules.contacts.codesShown) return false
  if (mayOperate(asker.caller)) return true
  const me = await actAs(hub, asker)
  const target = await needOther(hub, asker, other, 'no_target')
  const policy = await findPolicy(hub, target)
  return policy === 'open' || (policy === 'auto' && target.projectId === me.projectId)
}

/** The other has done nothing itself: it does not count as active. */
const inPlaceOf = ({ name, project }: Other, asker: Acting): Acting => ({
  ...asker,
  project: project ?? asker.project,
  home: undefined,
  name,
  unnoticed: true,
})
