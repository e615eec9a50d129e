/** Arguments for each tool of each door, as a client would write them. A tool that is not here has to be added. */

type Json = Record<string, unknown>
export type Samples = Readonly<Record<string, Json>>

/** For a project with GreenCastle and BlueLake in it, and a message between them. */
export function mailSamples(place: string, message_id = 1): Samples {
  const project_key = place
  const me = { project_key, agent_name: 'GreenCastle' }
  const from = { project_key, from_agent: 'GreenCastle', to_agent: 'BlueLake' }
  return {
    health_check: {},
    ensure_project: { human_key: place },
    register_agent: { project_key },
    create_agent_identity: { project_key },
    whois: me,
    list_agents: { project_key },
    send_message: { project_key, sender_name: 'GreenCastle', to: ['BlueLake'], subject: 'Plan', body_md: 'hello' },
    reply_message: { project_key, sender_name: 'GreenCastle', message_id, body_md: 'hello' },
    fetch_inbox: me,
    mark_message_read: { ...me, message_id },
    acknowledge_message: { ...me, message_id },
    request_contact: from,
    respond_contact: { ...from, accept: true },
    list_contacts: me,
    set_contact_policy: { ...me, policy: 'open' },
    file_reservation_paths: { ...me, paths: ['src/**'] },
    release_file_reservations: me,
    renew_file_reservations: me,
    search_messages: { project_key, query: 'hello' },
    summarize_thread: { project_key, thread_id: 'T-1' },
    summarize_threads: { project_key, thread_ids: ['T-1'] },
    macro_start_session: { human_key: place },
    macro_prepare_thread: { project_key, thread_id: 'T-1' },
    macro_file_reservation_cycle: { ...me, paths: ['src/**'] },
    install_precommit_guard: { project_key, code_repo_path: '/srv/nowhere' },
    uninstall_precommit_guard: { code_repo_path: '/srv/nowhere' },
    macro_contact_handshake: { project_key, requester: 'GreenCastle', target: 'BlueLake' },
  }
}

export const busSamples: Samples = {
  ping: {},
  topic_create: { name: 'plan' },
  topic_list: {},
  topic_resolve: { name: 'plan' },
  topic_close: { topic_id: 'none' },
  topic_reopen: { topic_id: 'none' },
  topic_join: { agent_name: 'alice', name: 'plan' },
  topic_presence: { topic_id: 'none' },
  sync: { topic_id: 'none', wait_seconds: 0 },
  cursor_reset: { topic_id: 'none', last_seq: 0 },
  messages_search: { query: 'hello' },
}

export const mailboxSamples: Samples = {
  send_to_agent: { name: 'bob', msg: 'hello' },
  check_mail: {},
  ack_mail: { id: 'none', lease: 'none' },
}

export const hubSamples: Samples = {
  'apm2.message.send': { to: 'bob', text: 'hello' },
  'apm2.message.ask': { to: 'bob', text: 'hello?', wait_seconds: 0 },
  'apm2.message.broadcast': { to: ['bob'], text: 'hello', wait_seconds: 0 },
  'apm2.thread.read': { thread: 'none' },
  'apm2.agents.list': {},
  'apm2.grant.create': { agent: 'bob', thread: 'none' },
  'apm2.grant.list': {},
  'apm2.grant.revoke': { grant_id: 'none' },
}
