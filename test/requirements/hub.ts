/** Promises about the hub door: threads as resources, messages, grants, updates, tasks. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const hub = [
  { id: 'hub.send.receipt', spec: 'DECISIONS hub 6', says: 'apm2.message.send answers with message_id, thread, seq and created_at.' },
  { id: 'hub.send.thread', spec: 'DECISIONS hub 6', says: 'A message goes into the thread it names; without one, or with "new", it begins one.' },
  { id: 'hub.send.retry', spec: 'DECISIONS hub 6', says: 'A retry with the same client_message_id stores nothing twice.' },
  { id: 'hub.send.await', spec: 'DECISIONS hub 6', says: 'With await_reply_seconds a send also has the first reply, null when time is up.' },
  { id: 'hub.send.links', spec: 'DECISIONS hub 6', says: 'Attachments are links: resource_link here, {type: link, uri} at the mail door; content is refused.' },
  { id: 'hub.ask.reply', spec: 'DECISIONS hub 16', says: 'A reply names the message, or is the recipient’s next one in the thread; a third one’s is none.' },
  { id: 'hub.ask.resumed', spec: 'DECISIONS hub 9', says: 'A question is waited for again by its message_id alone; nothing is sent twice.' },
  { id: 'hub.broadcast.gathered', spec: 'DECISIONS hub 16', says: 'A broadcast is one thread; it gathers a reply of each, names the missing and the blocked.' },
  { id: 'hub.thread.shape', spec: 'DECISIONS hub 6', says: 'A thread is read oldest first, by cursor; next_cursor is always there, has_more says if there is more.' },
  { id: 'hub.thread.wait', spec: 'DECISIONS hub 8', says: 'apm2.thread.read waits for the next message.' },
  { id: 'hub.thread.own', spec: 'DECISIONS hub 5', says: 'An agent reads what it wrote and what came to it: writing into a thread opens nothing else of it.' },
  { id: 'hub.thread.foreign', spec: 'DECISIONS hub 5', says: 'A foreign thread and a missing one answer alike, to readers and to writers.' },
  { id: 'hub.thread.names', spec: 'DECISIONS hub 1', says: 'A thread goes by the id of a topic, the key of mail, or the id of the message that began it.' },
  { id: 'hub.thread.parts', spec: 'DECISIONS hub 21', says: 'Texts above 256 KiB come in parts, by offset, and no character is broken.' },
  { id: 'hub.thread.attachments', spec: 'DECISIONS hub 21', says: 'Stored attachments are resource_links, read by those who may read the thread.' },
  { id: 'hub.agents.listed', spec: 'DECISIONS hub 17', says: 'Agents are listed with name, status, reachability and last activity, a page at a time.' },
  { id: 'hub.agents.self', spec: 'DECISIONS hub 8', says: 'Of itself an agent also sees its threads, with the last seq and the number unread.' },
  { id: 'hub.caller.url', spec: 'DECISIONS hub 3', says: 'The caller is the agent of its key, else ?agent=; without either it sees the agents and no thread.' },
  { id: 'hub.caller.operator', spec: 'DECISIONS hub 5', says: 'The operator sees every thread.' },
  { id: 'hub.grant.own-view', spec: 'DECISIONS hub 5', says: 'A participant grants its own view of a thread for a time, and takes it back.' },
  { id: 'hub.grant.write', spec: 'DECISIONS hub 21', says: 'With a write grant an agent sends into the thread; with a read grant it does not.' },
  { id: 'hub.resources.listed', spec: 'hub.md Receive path', says: 'Resources and templates are listed, and ids of agents and own threads are completed.' },
  { id: 'hub.stdio.agent', spec: 'DECISIONS hub 1', says: 'parley hub --agent NAME serves the same over stdin and stdout.' },
  { id: 'hub.doors.together', spec: 'DESIGN The doors', says: 'Messages of the mailbox, the mail door and topics are read at the hub, and those of the hub there.' },
] as const satisfies readonly Requirement[]
