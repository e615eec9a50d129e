/** Every migration there is, in order. A released one never changes; a new one is added at the end. */
import type { Migration } from '../migrate.ts'
import { mailbox } from './0001-mailbox.ts'
import { topics } from './0002-topics.ts'
import { search } from './0003-search.ts'
import { mail } from './0004-mail.ts'
import { callers } from './0005-callers.ts'
import { names } from './0006-names.ts'
import { boxes } from './0007-boxes.ts'
import { archive } from './0008-archive.ts'
import { attachments } from './0009-attachments.ts'
import { post } from './0010-post.ts'
import { hub } from './0011-hub.ts'
import { pages } from './0012-pages.ts'
import { bridge } from './0013-bridge.ts'
import { scopes } from './0014-scopes.ts'
import { unread } from './0015-unread.ts'
import { answers } from './0016-answers.ts'
import { waitingTasks } from './0017-waiting-tasks.ts'
import { guesses } from './0018-guesses.ts'
import { looks } from './0019-looks.ts'
import { attachmentCarriers } from './0020-attachment-carriers.ts'
import { invitations } from './0021-invitations.ts'
import { folders } from './0022-folders.ts'
import { presence } from './0023-presence.ts'
import { deliveryTimes } from './0024-delivery-times.ts'
import { announcements } from './0025-announcements.ts'
import { endings } from './0026-endings.ts'
import { attempts } from './0027-attempts.ts'
import { clientSessions } from './0028-client-sessions.ts'
import { roles } from './0029-roles.ts'
import { loops } from './0030-loops.ts'
import { questions } from './0031-questions.ts'
import { messageTraces } from './0032-message-traces.ts'
import { beside } from './0033-beside.ts'
import { people } from './0034-people.ts'
import { retention } from './0035-retention.ts'
import { pageLists } from './0036-page-lists.ts'

export const migrations: readonly Migration[] = [
  mailbox,
  topics,
  search,
  mail,
  callers,
  names,
  boxes,
  archive,
  attachments,
  post,
  hub,
  pages,
  bridge,
  scopes,
  unread,
  answers,
  waitingTasks,
  guesses,
  looks,
  attachmentCarriers,
  invitations,
  folders,
  presence,
  deliveryTimes,
  announcements,
  endings,
  attempts,
  clientSessions,
  roles,
  loops,
  questions,
  messageTraces,
  beside,
  people,
  retention,
  pageLists,
]
