/** The next call on the bus for each error: core knows reasons, this door knows its tools. */
import type { Hints } from '../mcp/table.ts'
import { and, overHttp } from '../words/hints.ts'

export const hints: Hints = {
  PROJECT_NOT_FOUND: and(
    'Leave ?project= (or --project) out to use the common project; a new one is named by an absolute path, and its first topic_create makes it.',
  ),
  TOPIC_NOT_FOUND: 'topic_list shows the existing topics; topic_create makes one.',
  TOPIC_CLOSED: 'Nothing was sent. Call topic_reopen, or topic_create for a new topic.',
  closed_topic:
    'Pass allow_closed: true to find the closed topic, call topic_reopen to open it, or topic_create for a new one.',
  AGENT_NOT_JOINED:
    'Call topic_join with your agent_name and this topic first; over HTTP without a session, call with your key or put ?agent=<name> on the URL.',
  AGENT_NAME_IN_USE: and('Pass the token as reclaim_token of topic_join.'),
  nameless:
    'Put your name on the URL: /bus/mcp?agent=<name>, or call with the key of your agent; then call topic_join.',
  name_taken_over: 'Call topic_join under another name, or with the reclaim_token.',
  beyond_end: 'Pass an ack_through or last_seq that the topic has; sync shows how far it goes.',
  no_reply_target:
    'Nothing was sent. Pass as reply_to the message_id of a message that sync returned from the same topic.',
  keyed: and(overHttp),
}
