/** Each route of REST and each page, as a client asks for it, on what a case reaches for. */
import { at, type DoorCall, type Request, type Row, type Target } from './calling.ts'
import { rows, type Verb } from './matrix.ts'

/** REST acts for the agent of the key, whoever else is named: the line of `needSelf`, and readers do not write. */
const route = (
  name: string,
  method: 'GET' | 'POST' | 'PUT',
  more: (target: Target) => Partial<Request> = () => ({}),
  changed: Partial<Row> = {},
): DoorCall => ({
  name: `${method} ${name}`,
  row: at(rows.needSelf, { ...(method === 'GET' ? {} : { itselfReading: 'FORBIDDEN' }), ...changed }),
  request: (target) => ({ path: name, method, ...more(target) }),
})

/** To another agent, of this project or not, the session and the message belong to others. */
const othersSession = { another: 'FORBIDDEN', elsewhere: 'FORBIDDEN' } as const
const othersMessage = { another: 'MESSAGE_NOT_FOUND', elsewhere: 'MESSAGE_NOT_FOUND' } as const

export const postCalls: DoorCall[] = [
  route('/agents/me', 'GET'),
  route('/inbox', 'GET'),
  route('/messages/unread', 'GET'),
  route('/connections/pending', 'GET'),
  route('/messages/send', 'POST', ({ other }) => ({ body: { to: other, subject: 'a', content: 'b' } }), {
    another: 'CONTACT_REQUIRED',
    elsewhere: 'AGENT_NOT_FOUND',
  }),
  route('/connections/request', 'POST', ({ stranger }) => ({ body: { target_agent_name: stranger } }), {
    elsewhere: 'AGENT_NOT_FOUND',
  }),
  route('/connections/approve', 'POST', ({ code }) => ({ body: { verification_code: code } }), {
    another: 'FORBIDDEN',
    elsewhere: 'FORBIDDEN',
  }),
  ...(['deny', 'approve'] as const).map((answer) =>
    route(
      `/connections/{connection_id}/${answer}`,
      'POST',
      // Once it is denied, nothing waits to be approved.
      ({ connection, denied }) => ({ path: `/connections/${answer === 'deny' ? denied : connection}/${answer}` }),
      { another: 'CONTACT_NOT_FOUND', elsewhere: 'CONTACT_NOT_FOUND' },
    ),
  ),
  // Before the history, which counts as read.
  route(
    '/messages/{message_id}/claim',
    'POST',
    ({ messageUid }) => ({ path: `/messages/${messageUid}/claim`, body: {} }),
    othersMessage,
  ),
  route(
    '/sessions/{session_id}/history',
    'GET',
    ({ threadUid }) => ({ path: `/sessions/${threadUid}/history` }),
    othersSession,
  ),
  route('/sessions/{session_id}', 'GET', ({ threadUid }) => ({ path: `/sessions/${threadUid}` }), othersSession),
  route(
    '/sessions/{session_id}/key',
    'PUT',
    ({ threadUid }) => ({ path: `/sessions/${threadUid}/key`, body: { session_key: 'main' } }),
    othersSession,
  ),
  route(
    '/messages/{message_id}/read',
    'POST',
    ({ messageUid }) => ({ path: `/messages/${messageUid}/read`, body: {} }),
    othersMessage,
  ),
]

const page = (path: string, verb: Verb, changed?: Partial<Row>): DoorCall => ({
  name: path,
  row: at(rows[verb], changed),
  request: ({ project, name, messageId, thread }) => ({
    method: 'GET',
    path: path
      .replace(':project', encodeURIComponent(project))
      .replace(':agent', name)
      .replace(':id', String(messageId))
      .replace(':thread', thread),
  }),
})

export const pageCalls: DoorCall[] = [
  page('/mail', 'countAttention'),
  page('/mail/unified-inbox', 'listAllMail'),
  page('/mail/projects', 'listPageProjects'),
  page('/mail/attention', 'countAttention'),
  page('/mail/search', 'readFrame'),
  page('/mail/invitations', 'listInvitations'),
  page('/mail/:project', 'overviewProject'),
  page('/mail/:project/search', 'searchMail'),
  page('/mail/:project/inbox/:agent', 'listBox'),
  page('/mail/:project/message/:id', 'showMessage'),
  page('/mail/:project/threads', 'listThreads'),
  page('/mail/:project/thread/:thread', 'showThread'),
  page('/mail/:project/file_reservations', 'listPageLeases'),
  page('/mail/:project/contacts', 'listProjectContacts'),
  page('/mail/:project/attachments', 'listAttached'),
  page('/mail/:project/activity', 'readActivity'),
]

/** The requests of people's commands to a server; with the operator's token a person asks. */
const people = (
  method: 'GET' | 'POST',
  name: string,
  verb: Verb,
  more: (target: Target) => { query?: Record<string, string>; body?: object } = () => ({}),
): DoorCall => ({
  name: `${method} ${name}`,
  row: at(rows[verb]),
  request: (target) => {
    const { query, body } = more(target)
    return { method, path: query === undefined ? name : `${name}?${new URLSearchParams(query)}`, ...(body && { body }) }
  },
})

const ofMessage = ({ messageId }: Target) => ({ query: { id: String(messageId) } })

export const peopleCalls: DoorCall[] = [
  people('GET', '/people/inbox', 'listAllMail'),
  people('GET', '/people/inbox', 'listBox', ({ project, name }) => ({ query: { project, name } })),
  people('GET', '/people/threads', 'listAllThreads'),
  people('GET', '/people/message', 'readMessage', ofMessage),
  people('GET', '/people/trace', 'traceMessage', ofMessage),
  people('GET', '/people/search', 'searchMail', ({ project }) => ({ query: { query: 'hello', project } })),
  people('GET', '/people/agents', 'listAllAgents'),
  people('GET', '/people/waiting', 'listWaiting'),
  people('POST', '/people/send', 'sendAsOverseer', ({ project, name }) => ({
    body: { to: [name], project, subject: 'a', body: 'b' },
  })),
  people('POST', '/people/reply', 'answerMessage', ({ messageId }) => ({ body: { id: messageId, body: 'b' } })),
  people('POST', '/people/topics', 'createTopic', ({ project }) => ({ body: { name: 'by people', project } })),
]
