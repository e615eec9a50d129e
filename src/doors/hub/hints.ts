/** The next call at the hub for each error: core knows reasons, this door knows its tools. */
import type { Hints } from '../mcp/table.ts'
import { and, overHttp } from '../words/hints.ts'

export const hints: Hints = {
  nameless: 'Put your name on the URL, /hub/mcp?agent=<name>, or call with the key of an agent.',
  keyed: and(overHttp),
  read_only: and('Its participants grant with apm2.grant.create.'),
  no_broadcast: and('apm2.agents.list shows all of them, and apm2.message.broadcast writes to several.'),
  no_agent: and('apm2.agents.list shows the agents there are.'),
  THREAD_NOT_FOUND:
    'apm2://agents/<your name> lists your threads. Pass thread "new" to begin one; others are read with a grant of a participant (apm2.grant.create).',
  MESSAGE_NOT_FOUND: 'Pass a message_id as apm2.message.send or apm2.thread.read returned it.',
  PROJECT_NOT_FOUND: and(
    'Leave ?project= out of the URL to use the common project; a new one is named by an absolute path, and its first message makes it.',
  ),
  NOT_FOUND: and('apm2.grant.list shows the grants there are.'),
  MAILBOX_FULL: 'Nothing was stored. Send again once the agent has read some of its mail, or raise MAILBOX_MAX_DEPTH.',
  CONTACT_REQUIRED:
    'Nothing was sent. Send again once there is contact: ask with request_contact at the mail door; the other answers with respond_contact.',
  CONTACT_BLOCKED: 'Nothing was sent. Write to somebody else.',
  TOPIC_CLOSED: 'Nothing was sent. Open the topic again at the bus, or pass thread "new".',
}
