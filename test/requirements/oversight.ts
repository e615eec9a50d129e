/** Promises about what people see of the agents, and how they steer them. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const oversight = [
  { id: 'web.inbox.unified', spec: 'mail Web UI', says: 'The unified inbox lists mail and topics of all projects, newest first, by project, sender, importance, unread.' },
  { id: 'web.inbox.threads', spec: 'mail Web UI', says: 'The inbox by threads has one row a thread: its newest message and how many there are.' },
  { id: 'web.inbox.box', spec: 'mail Web UI', says: 'The boxes of an agent are listed newest first, by pages or from an id, with what was read and acknowledged.' },
  { id: 'web.projects.figures', spec: 'mail Web UI', says: 'Projects show agents, messages, unread mail and last activity; an overview has agents, threads and leases.' },
  { id: 'web.message.states', spec: 'mail Web UI', says: 'A message shows each recipient as unread, read, acknowledged or overdue, with times.' },
  { id: 'web.thread.newest', spec: 'mail Web UI', says: 'A thread is read from its end, with earlier messages on demand, its participants and their presence.' },
  { id: 'web.threads.listed', spec: 'mail Web UI', says: 'Threads and topics are listed by their newest message, filtered by status, kind and words.' },
  { id: 'web.access.sight', spec: 'mail Web UI', says: 'Blind copies are for people; without a key, mail among holders of keys shows no content; an agent sees its own.' },
  { id: 'web.access.steering', spec: 'mail Security', says: 'Only the operator, and a person at this machine while no token is set, steer; nobody else writes as people do.' },
  { id: 'web.reads.bounded', spec: 'DESIGN Tests', says: 'Every list of the pages is read by an index, however much there is beside it.' },
  { id: 'web.overseer.identity', spec: 'mail Human Overseer', says: 'HumanOverseer has the program WebUI, the model Human and the policy open, whoever names it first.' },
] as const satisfies readonly Requirement[]
