/** Each tool and resource as a client calls it, on what a case reaches for; `verb` is the line of the matrix that it must keep to. */
import { at, type DoorCall, type Row, type Target } from './calling.ts'
import { rows, type Verb } from './matrix.ts'
import { pageCalls, peopleCalls, postCalls } from './route-calls.ts'

type Args = (target: Target) => object

const scoped = (path: string, { project }: Target) => `${path}project=${encodeURIComponent(project)}`

const doors = {
  mail: () => '/mcp',
  mailbox: (target: Target) => scoped(`/agents/${target.name}/mcp?`, target),
  bus: (target: Target) => scoped(`/bus/mcp?agent=${target.name}&`, target),
  hub: (target: Target) => scoped(`/hub/mcp?agent=${target.name}&`, target),
}

type DoorName = keyof typeof doors

const tool =
  (door: DoorName) =>
  (name: string, verb: Verb, args: Args = () => ({}), changed?: Partial<Row>): DoorCall => ({
    name,
    row: at(rows[verb], changed),
    request: (target) => ({
      path: doors[door](target),
      rpc: { method: 'tools/call', params: { name, arguments: args(target) } },
    }),
  })

const resource =
  (door: DoorName) =>
  (name: string, verb: Verb, uri: (target: Target) => string, changed?: Partial<Row>): DoorCall => ({
    name,
    row: at(rows[verb], changed),
    request: (target) => ({
      path: doors[door](target),
      rpc: { method: 'resources/read', params: { uri: uri(target) } },
    }),
  })

const [mail, mailbox, bus, hub] = [tool('mail'), tool('mailbox'), tool('bus'), tool('hub')]
const [mailResource, hubResource] = [resource('mail'), resource('hub')]

const project_key = ({ project }: Target) => ({ project_key: project })
const own: Args = (target) => ({ ...project_key(target), agent_name: target.name })
const ofMessage: Args = (target) => ({ ...own(target), message_id: target.messageId })
const paths = ['docs/*.md']
const inside = ({ project }: Target) => `project=${encodeURIComponent(project)}`

/** A tool that may write is refused to readers before it is looked at, also where the verb would only read. */
const noReader = {
  itselfReading: 'FORBIDDEN',
  readerKeyless: 'FORBIDDEN',
  readerKeyed: 'FORBIDDEN',
  auditor: 'FORBIDDEN',
} as const

const mailCalls: DoorCall[] = [
  mail('health_check', 'findSchemaVersion'),
  mail('ensure_project', 'openProject', ({ project }) => ({ human_key: project })),
  mail('register_agent', 'register', (target) => ({ ...project_key(target), name: target.name })),
  mail('create_agent_identity', 'createIdentity', project_key),
  mail('whois', 'whois', own),
  mail('list_agents', 'listAgents', project_key),
  mail('send_message', 'send', (target) => ({
    ...project_key(target),
    ...{ sender_name: target.name, to: [target.other], subject: 'hello', body_md: 'hello' },
  })),
  mail('reply_message', 'reply', (target) => ({
    ...project_key(target),
    ...{ sender_name: target.name, message_id: target.messageId, body_md: 'yes' },
  })),
  mail('fetch_inbox', 'listInbox', own),
  mail('mark_message_read', 'markRead', ofMessage),
  mail('acknowledge_message', 'acknowledgeMessage', ofMessage),
  mail('request_contact', 'requestContact', (target) => ({
    ...project_key(target),
    ...{ from_agent: target.name, to_agent: target.other },
  })),
  mail('respond_contact', 'respondContact', (target) => ({
    ...project_key(target),
    ...{ to_agent: target.name, from_agent: target.other, accept: true },
  })),
  mail('list_contacts', 'listContacts', own),
  mail('set_contact_policy', 'setContactPolicy', (target) => ({ ...own(target), policy: 'open' })),
  mail('file_reservation_paths', 'reserve', (target) => ({ ...own(target), paths })),
  mail('renew_file_reservations', 'renew', own),
  mail('install_precommit_guard', 'installGuard', (target) => ({
    ...project_key(target),
    code_repo_path: target.repository,
  })),
  mail('uninstall_precommit_guard', 'uninstallGuard', ({ repository }) => ({ code_repo_path: repository })),
  mail('search_messages', 'searchProject', (target) => ({ ...project_key(target), query: target.word })),
  mail('summarize_thread', 'summarizeThread', (target) => ({ ...project_key(target), thread_id: target.thread })),
  mail('summarize_threads', 'summarizeThreads', (target) => ({ ...project_key(target), thread_ids: [target.thread] })),
  mail('macro_start_session', 'startWork', ({ project, name }) => ({ human_key: project, agent_name: name })),
  mail(
    'macro_prepare_thread',
    'prepareForThread',
    (target) => ({ ...own(target), thread_id: target.thread }),
    noReader,
  ),
  mail('macro_contact_handshake', 'shakeHands', (target) => ({
    ...project_key(target),
    ...{ requester: target.name, target: target.other },
  })),
  mailResource('resource://projects', 'listProjects', () => 'resource://projects'),
  mailResource(
    'resource://project',
    'needProject',
    ({ project }) => `resource://project/${encodeURIComponent(project)}`,
  ),
  mailResource('resource://agents', 'listAgents', ({ project }) => `resource://agents/${encodeURIComponent(project)}`),
  ...['inbox', 'mailbox', 'mailbox-with-commits', 'views/urgent-unread', 'views/ack-required'].map((view) =>
    mailResource(`resource://${view}`, 'listInbox', (target) => `resource://${view}/${target.name}?${inside(target)}`),
  ),
  ...['views/acks-stale', 'views/ack-overdue'].map((view) =>
    mailResource(`resource://${view}`, 'listInbox', (target) => `resource://${view}/${target.name}?${inside(target)}`),
  ),
  mailResource('resource://outbox', 'listOutbox', (target) => `resource://outbox/${target.name}?${inside(target)}`),
  mailResource(
    'resource://message',
    'needMessage',
    (target) => `resource://message/${target.messageId}?${inside(target)}`,
  ),
  mailResource(
    'resource://attachment',
    'readByHash',
    (target) => `resource://attachment/${target.sha1}?${inside(target)}`,
  ),
  mailResource('resource://thread', 'readThread', (target) => `resource://thread/${target.thread}?${inside(target)}`),
  mailResource(
    'resource://file_reservations',
    'listLeases',
    ({ project }) => `resource://file_reservations/${encodeURIComponent(project)}`,
  ),
  mailResource('resource://tooling/locks', 'listHeldChores', () => 'resource://tooling/locks'),
  mail('release_file_reservations', 'release', own),
  mail('macro_file_reservation_cycle', 'lookForConflicts', (target) => ({ ...own(target), paths })),
]

const ofTopic: Args = ({ topic }) => ({ topic_id: topic.uid })

const busCalls: DoorCall[] = [
  bus('ping', 'findSchemaVersion'),
  bus('topic_create', 'createTopic', () => ({ name: 'new' })),
  bus('topic_list', 'listTopics'),
  bus('topic_resolve', 'resolveTopic', ({ topic }) => ({ name: topic.name })),
  bus('topic_join', 'join', (target) => ({ ...ofTopic(target), agent_name: target.name })),
  bus('sync', 'sync', (target) => ({ ...ofTopic(target), wait_seconds: 0 })),
  bus('cursor_reset', 'resetCursor', (target) => ({ ...ofTopic(target), last_seq: 0 })),
  bus('topic_presence', 'listPresent', ofTopic),
  bus('messages_search', 'searchTopics', ({ word }) => ({ query: word })),
  bus('topic_close', 'closeTopic', ofTopic),
  bus('topic_reopen', 'reopenTopic', ofTopic),
]

const threadUri = ({ thread }: Target) => `apm2://threads/${encodeURIComponent(thread)}`

const hubCalls: DoorCall[] = [
  hub('apm2.message.send', 'write', ({ other, thread }) => ({ to: other, text: 'hello', thread })),
  hub('apm2.message.ask', 'write', ({ other }) => ({ to: other, text: 'well?', wait_seconds: 0 })),
  hub('apm2.message.ask', 'awaitReplies', ({ askedId }) => ({ message_id: askedId, wait_seconds: 0 }), noReader),
  hub('apm2.message.broadcast', 'write', ({ other }) => ({ to: [other], text: 'all', wait_seconds: 0 })),
  hub('apm2.thread.read', 'viewThread', ({ thread }) => ({ thread })),
  hub('apm2.agents.list', 'listDirectory'),
  hub('apm2.grant.create', 'createGrant', ({ other, thread }) => ({ agent: other, thread, can: 'read' }), noReader),
  hub('apm2.grant.list', 'listGrants'),
  hubResource('apm2://agents', 'listDirectory', () => 'apm2://agents'),
  hubResource('apm2://agents/{agentId}', 'findListed', ({ name }) => `apm2://agents/${name}`),
  hubResource('apm2://threads/{threadId}', 'viewThread', threadUri),
  hubResource(
    'apm2://threads/{threadId}/attachments/{attachmentId}',
    'readEnclosure',
    (target) => `${threadUri(target)}/attachments/${target.messageId}-0`,
  ),
  hub('apm2.grant.revoke', 'revokeGrant', ({ grant }) => ({ grant_id: grant }), noReader),
]

const mailboxCalls: DoorCall[] = [
  mailbox('send_to_agent', 'send', ({ other }) => ({ name: other, msg: 'hello' })),
  mailbox('ack_mail', 'acknowledge', ({ lent }) => ({ id: lent.clientId, lease: lent.loan })),
  mailbox('check_mail', 'take'),
]

export const doorCalls = {
  // First: what the others mark as read cannot be claimed any more.
  post: postCalls,
  mail: mailCalls,
  bus: busCalls,
  hub: hubCalls,
  mailbox: mailboxCalls,
  pages: pageCalls,
  people: peopleCalls,
} satisfies Readonly<Record<string, readonly DoorCall[]>>
