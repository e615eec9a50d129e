/** `parley topics send`, `rename` and `delete`. */
import { userInfo } from 'node:os'
import type { z } from 'zod'
import { HubError } from '../../../base/errors.ts'
import { limits } from '../../../base/limits.ts'
import { nameKey } from '../../../base/names.ts'
import { local } from '../../../core/access/callers.ts'
import { agentOf } from '../../../core/access/rules.ts'
import { needSelf } from '../../../core/agents/register-with-key.ts'
import { listPresent } from '../../../core/topics/members.ts'
import { remark } from '../../../core/topics/remarks.ts'
import { deleteTopic } from '../../../core/topics/removal.ts'
import { needTopicCalled, renameTopic } from '../../../core/topics/topic-admin.ts'
import type { Topic } from '../../../core/topics/topics.ts'
import { findEntry } from '../../../core/topics/transcript.ts'
import { busName, clientId, messageKind, title, topicBody } from '../../words/fields.ts'
import { confirmDeletion, outJson } from '../commands.ts'
import { UsageError } from '../failures.ts'
import type { AtDesk } from '../people/person.ts'
import { word } from '../terminal/harmless.ts'
import { count, quoted } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { typedText } from '../terminal/typed.ts'
import type { Desk } from './reading.ts'
import { toMessage, toTopic } from './shapes.ts'

/** Typed text, as the doors take it. */
function checked<T>(schema: z.ZodType<T>, what: string, value: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new UsageError(`${what} ${result.error.issues[0]?.message ?? 'is wrong'}`, 'Nothing was changed.')
}

export async function createCommand(
  { desk, json }: AtDesk,
  screen: Screen,
  { name, project }: { name: string; project: string },
): Promise<void> {
  const topic = await desk.createTopic({ name: checked(title, 'The name', name), project })
  if (json) return outJson(screen, topic)
  await screen.out(
    topic.created
      ? `Made ${quoted(topic.name)}: ${topic.topic_id}. Peers join it by its name.\n`
      : `${quoted(topic.name)} is there already: ${topic.topic_id}.\n`,
  )
}

export async function renameCommand(
  { hub, screen, project, json }: Desk,
  { topic: called, name }: { topic: string; name: string },
): Promise<void> {
  const wanted = checked(title, 'The name', name)
  const old = await needTopicCalled(hub, local, project, called)
  const topic = await renameTopic(hub, local, old, wanted)
  if (json) return outJson(screen, toTopic(topic))
  await screen.out(`${quoted(old.name)} is now called ${quoted(topic.name)}.\n`)
}

/** Shows the extent of a deletion, and asks before it deletes (cli.topics.delete-asks). */
export async function deleteCommand(
  { hub, screen, project, json }: Desk,
  { topic: called, force }: { topic: string; force?: true },
): Promise<void> {
  const topic = await needTopicCalled(hub, local, project, called)
  const { uid: topic_id, name, messages, peers } = topic
  const what = `the topic ${quoted(name)} (${topic_id}) with ${count(messages, 'message')} and the places of ${count(peers, 'peer')}`
  if (!force) await confirmDeletion(screen, what)
  await deleteTopic(hub, local, topic)
  if (json) return outJson(screen, { topic_id, name, messages, peers, deleted: true })
  await screen.out(`Deleted ${what}.\n`)
}

interface Sending {
  readonly topic: string
  readonly words: readonly string[]
  readonly as?: string
  readonly type: string
  readonly replyTo?: string
}

export async function sendCommand(desk: Desk, { topic: called, words, as, type, replyTo }: Sending): Promise<void> {
  const { hub, caller, screen, project, json } = desk
  const usual = async () => (agentOf(caller) === undefined ? loginName() : (await needSelf(hub, caller)).name)
  const name = checked(busName, 'The name (--as)', as ?? (await usual()))
  const kind = checked(messageKind, 'The type (--type)', type)
  const topic = await needTopicCalled(hub, local, project, called)
  const answered = replyTo === undefined ? undefined : await uidOf(desk, topic, replyTo)
  const body = checked(topicBody, 'The message', await typedText(screen, words, limits.topicBodyLength))
  const acting = { caller, project, name }
  const { message } = await remark(hub, acting, { topic, outgoing: { body, kind, replyToUid: answered } })
  if (json) {
    const entry = (await findEntry(hub, local, topic, message.seq)) ?? { ...message, replyToSeq: undefined }
    await outJson(screen, toMessage(topic, entry))
  } else await screen.out(`Sent #${message.seq} to ${quoted(topic.name)} as ${word(message.sender)}.\n`)
  await warnOfNamesake(desk, topic, message.sender)
}

function loginName(): string {
  try {
    return userInfo().username
  } catch {
    throw new UsageError('This user has no login name to send under.', 'Give a name with --as.')
  }
}

/** People know a message by its number, programs by its id. */
async function uidOf({ hub }: Desk, topic: Topic, given: string): Promise<string> {
  const [, seq] = /^#?(\d{1,15})$/.exec(given) ?? []
  if (seq === undefined) return checked(clientId, 'The message (--reply-to)', given)
  const entry = await findEntry(hub, local, topic, Number(seq))
  if (entry !== undefined) return entry.uid
  throw new HubError('INVALID_ARGUMENT', `There is no message #${seq} in ${quoted(topic.name)}.`, {
    hint: 'Nothing was sent. `parley topics show` has the numbers.',
  })
}

/** A peer gets no messages under its own name: this one would seem lost. */
async function warnOfNamesake({ hub, screen, project }: Desk, topic: Topic, sender: string): Promise<void> {
  const { peers } = await listPresent(hub, local, project, { uid: topic.uid, windowMs: 300_000, limit: limits.listed })
  if (peers.some(({ name }) => nameKey(name) === nameKey(sender)))
    await screen.note(
      `A peer called ${word(sender)} takes this message for its own. Send under another name with --as.`,
    )
}
