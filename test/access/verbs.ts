/** One call of each verb that doors can reach, as a door makes it, on what a case reaches for. */

import { local, operator } from '../../src/core/access/callers.ts'
import { listHeldChores } from '../../src/core/access/held-chores.ts'
import { holdsKey } from '../../src/core/access/keys.ts'
import { logIn } from '../../src/core/access/logins.ts'
import { canActAs } from '../../src/core/agents/acting.ts'
import { needAgent, needHome } from '../../src/core/agents/agents.ts'
import { findSelf, findStanding, isSameProject, projectOfCall, selfInFolder } from '../../src/core/agents/connection.ts'
import { acceptInvitation, invite, listInvitations, revokeInvitation } from '../../src/core/agents/invitations.ts'
import { createKey, listAllKeys, listKeys, revokeKeys, rotateKey } from '../../src/core/agents/keys.ts'
import { countAgents, listAgents, listAllAgents, pageAgents, whois } from '../../src/core/agents/profiles.ts'
import { describeSelf, needSelf, registerOwned } from '../../src/core/agents/register-with-key.ts'
import { createIdentity, register } from '../../src/core/agents/registration.ts'
import { describeCommits, findCommits, listRecentCommits } from '../../src/core/archive/commits.ts'
import { backUp } from '../../src/core/backups/writing.ts'
import { approveConnection } from '../../src/core/contact-requests/codes.ts'
import { answerConnection, requestConnection } from '../../src/core/contact-requests/connecting.ts'
import { listPendingConnections } from '../../src/core/contact-requests/pending.ts'
import { requestContact, respondContact } from '../../src/core/contact-requests/requests.ts'
import { listContacts, setContactPolicy } from '../../src/core/contacts/links.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { describeGuard, installGuard, uninstallGuard } from '../../src/core/leases/guard-hooks.ts'
import { listExpiring, listLeases, release, renew, reserve } from '../../src/core/leases/leases.ts'
import { lookForConflicts, prepareForThread, shakeHands, startWork } from '../../src/core/macros/work.ts'
import { followArrivals } from '../../src/core/mail/arrivals.ts'
import { claimMessage, keepSessionKey, markReadCalled } from '../../src/core/mail/claims.ts'
import { listConversations } from '../../src/core/mail/conversations.ts'
import { noteDelivered } from '../../src/core/mail/delivered.ts'
import { freeLeases } from '../../src/core/mail/freeing.ts'
import { readConversation } from '../../src/core/mail/history.ts'
import { listInbox, listOutbox } from '../../src/core/mail/inbox.ts'
import { findQuotas } from '../../src/core/mail/quotas.ts'
import { acknowledgeMessage, markRead } from '../../src/core/mail/receipts.ts'
import { surveys } from '../../src/core/mail/retention-report.ts'
import { takeInRun } from '../../src/core/mail/run-mail.ts'
import { acknowledge, take } from '../../src/core/mail/take.ts'
import { takeReply } from '../../src/core/mail/take-reply.ts'
import { listUnread, needCounterpart } from '../../src/core/mail/unread.ts'
import { converse } from '../../src/core/messages/conversing.ts'
import { reply } from '../../src/core/messages/reply.ts'
import { send } from '../../src/core/messages/send.ts'
import {
  announce,
  awaitMail,
  confirmAnnounced,
  noteAccepted,
  notePrompt,
  returnAnnounced,
} from '../../src/core/presence/announce.ts'
import { bindSession, findHookAgent } from '../../src/core/presence/binding.ts'
import { claimForBridge } from '../../src/core/presence/bridging.ts'
import { addWaiter } from '../../src/core/presence/presence.ts'
import { describeReach, reaching, withReach } from '../../src/core/presence/reach.ts'
import { borrowMail, endRun, renewRun } from '../../src/core/presence/runs.ts'
import { noteStep } from '../../src/core/presence/sessions.ts'
import { listWaiting } from '../../src/core/presence/waiting-agents.ts'
import { openProject } from '../../src/core/projects/folders.ts'
import { ensureProject, listProjects, needProject } from '../../src/core/projects/projects.ts'
import { callRemoteTool, listCallable } from '../../src/core/remote-tools/calling.ts'
import { grantServer, listServerGrants, revokeServerGrant } from '../../src/core/remote-tools/grants.ts'
import { searchProject } from '../../src/core/search/project.ts'
import { searchTopics } from '../../src/core/search/topics.ts'
import { readByHash, readEnclosure } from '../../src/core/threads/attachments.ts'
import { findListed, listDirectory } from '../../src/core/threads/directory.ts'
import { createGrant, listGrants, revokeGrant } from '../../src/core/threads/grants.ts'
import { actingOf } from '../../src/core/threads/hub-readers.ts'
import { listOwnThreads, viewThread } from '../../src/core/threads/hub-threads.ts'
import { needMessage, readThread } from '../../src/core/threads/mail-threads.ts'
import { sendAndAwait } from '../../src/core/threads/replies.ts'
import { summarizeThread, summarizeThreads } from '../../src/core/threads/summaries.ts'
import { beginFollowing, followUpdates, goOnAfter } from '../../src/core/threads/updates.ts'
import { awaitReplies, markReplies, write, writeAndAwait } from '../../src/core/threads/writing.ts'
import { join, listPresent, resetCursor } from '../../src/core/topics/members.ts'
import { remark } from '../../src/core/topics/remarks.ts'
import { deleteTopic } from '../../src/core/topics/removal.ts'
import { findSchemaVersion } from '../../src/core/topics/schema.ts'
import { sync } from '../../src/core/topics/sync.ts'
import { needTopicCalled, renameTopic, summarizeTopics } from '../../src/core/topics/topic-admin.ts'
import {
  closeTopic,
  createTopic,
  listTopics,
  needTopic,
  reopenTopic,
  resolveTopic,
} from '../../src/core/topics/topics.ts'
import { awaitNews, findEntry, findLastSeq, findStart, readEntries } from '../../src/core/topics/transcript.ts'
import { exportProject } from '../../src/core/transfers/exporting.ts'
import { importProject } from '../../src/core/transfers/importing.ts'
import { listWithFigures, mergeProjects, planMerge, renameProject } from '../../src/core/transfers/merging.ts'
import type { ExportRecord } from '../../src/core/transfers/records.ts'
import { applyRetention } from '../../src/core/transfers/retention-apply.ts'
import { planRetention } from '../../src/core/transfers/retention-plan.ts'
import { start } from '../../src/store/feed/positions.ts'
import { inRepository } from '../support/guard.ts'
import { now } from '../support/hub.ts'
import type { Verb } from './matrix.ts'
import { pageVerbs } from './page-verbs.ts'
import type { Target } from './world.ts'

const acting = ({ caller, project, name }: Target) => ({ caller, project, name, registered: true })
const looking = ({ caller, project, name }: Target) => ({ caller, project, name })
const holding = ({ caller, project, holder: key }: Target) => ({ caller, project, key })
const wanted = { patterns: ['docs/*.md'], exclusive: true, reason: '', ttlMs: 60_000 }
const syncing = { outbox: [], maxItems: 10, includeSelf: true, autoAdvance: true, ackThrough: undefined }
const refining = { refine: false }
const installation = { node: process.execPath, script: '/srv/parley/bin/guard.js', storage_root: '/srv/store' }

const retention = { maxAgeDays: 30, ignored: [] }

const anExport: ExportRecord[] = [
  { type: 'begin', project: { slug: 'new', key: '/srv/new', createdAt: 0 }, thread: undefined, at: 0 },
  { type: 'end', agents: 0, threads: 0, messages: 0 },
]

type Call = (hub: Hub, target: Target) => Promise<unknown>

const clientSession = { client: 'claude', session: 's' }
const hookRoute = { via: 'claude', session: 's' }

const sendAs = (hub: Hub, target: Target) => send(hub, acting(target), { to: [{ name: target.other }], body: 'hello' })

export const calls: Readonly<Record<Verb, Call>> = {
  listHeldChores: async (hub, { caller }) => void (await listHeldChores(hub, caller)),

  logIn: (hub, { caller }) => logIn(hub, caller, { address: '::1', token: true, code: undefined }),
  holdsKey: async (hub, { caller, keyHash }) => ((await holdsKey(hub, caller, keyHash)) ? true : []),

  openProject: async (hub, { caller, project }) => (await openProject(hub, caller, project)).place,
  needProject: (hub, { caller, project }) => needProject(hub, caller, project),
  listProjects: async (hub, { caller, project }) =>
    (await listProjects(hub, caller, { limit: 100 })).projects.filter(({ key }) => key === project),

  register: (hub, { caller, project, name }) => register(hub, caller, { project, name, task: 'another' }),
  createIdentity: (hub, { caller, project }) => createIdentity(hub, caller, { project }),
  createKey: (hub, target) => createKey(hub, acting(target)),
  rotateKey: (hub, target) => rotateKey(hub, acting(target)),
  revokeKeys: (hub, target) => revokeKeys(hub, acting(target)),
  listKeys: async (hub, target) => void (await listKeys(hub, acting(target))),
  listAllKeys: async (hub, { caller }) => (await listAllKeys(hub, caller, { limit: 1000 })).keys,
  registerOwned: (hub, { caller, project }) => registerOwned(hub, caller, { project, name: 'NewOwned' }),
  invite: (hub, { caller, project }) => invite(hub, caller, { project, name: 'Asked', door: 'mail', ttlMs: 60_000 }),
  listInvitations: async (hub, { caller }) => (await listInvitations(hub, caller, { limit: 1000 })).invitations,
  revokeInvitation: (hub, { caller, project }) => revokeInvitation(hub, caller, { project, name: 'Asked' }),
  acceptInvitation: (hub, { caller, name, invitation: code }) =>
    acceptInvitation(hub, caller, { name: `${name}Guest`, code, address: '::1' }),
  needSelf: (hub, { caller }) => needSelf(hub, caller),
  describeSelf: (hub, { caller }) => describeSelf(hub, caller),
  canActAs: async (hub, target) => ((await canActAs(hub, acting(target))) ? true : []),
  findSelf: (hub, { caller, project, name }) => findSelf(hub, caller, { name, project }),
  findStanding: async (hub, { caller, project, name }) =>
    (await findStanding(hub, caller, { name, project }))?.is === 'there' ? true : [],
  projectOfCall: (hub, { caller, project }) => projectOfCall(hub, caller, project),
  selfInFolder: async (hub, { caller, project }) => (await selfInFolder(hub, caller, {}, project)).project ?? [],
  isSameProject: (hub, { caller, project }) => isSameProject(hub, caller, project, project),
  needAgent: (hub, { caller, project, name }) => needAgent(hub, caller, project, name),
  needHome: (hub, { caller, name }) => needHome(hub, caller, name),
  whois: (hub, { caller, project, name }) => whois(hub, caller, project, name),
  listAgents: async (hub, { caller, project }) => (await listAgents(hub, caller, project, { limit: 10 })).agents,
  pageAgents: async (hub, { caller, project }) => (await pageAgents(hub, caller, project, { limit: 10 })).agents,
  listAllAgents: async (hub, { caller, topic }) =>
    (await listAllAgents(hub, caller, { limit: 50 })).agents.filter(({ projectId }) => projectId === topic.projectId),
  countAgents: async (hub, { caller, topic }) => {
    const projects = [{ id: topic.projectId, slug: '', key: '', createdAt: 0 }]
    return [...(await countAgents(hub, caller, projects)).values()]
  },

  reserve: (hub, target) => reserve(hub, acting(target), { ...wanted, onConflict: 'grant' }),
  renew: (hub, target) => renew(hub, acting(target), { byMs: 1000 }),
  release: async (hub, target) => (await release(hub, acting(target), {})).released,
  listLeases: async (hub, { caller, project }) =>
    (await listLeases(hub, caller, project, { activeOnly: true, limit: 10 })).leases,
  listExpiring: async (hub, { caller, project }) =>
    (await listExpiring(hub, caller, project, { withinMs: 3_600_000, limit: 10 })).leases,
  installGuard: (hub, { caller, project }) =>
    inRepository((folder) => installGuard(hub, caller, { project, folder, installation })),
  describeGuard: (hub, { caller, project }) =>
    inRepository((folder) => describeGuard(hub, caller, { project, folder, installation })),
  uninstallGuard: (hub, { caller }) => inRepository((folder) => uninstallGuard(hub, caller, folder)),

  listContacts: async (hub, target) => (await listContacts(hub, acting(target))).contacts,
  setContactPolicy: (hub, target) => setContactPolicy(hub, acting(target), 'open'),
  send: (hub, target) => sendAs(hub, target),
  announce: (hub, target) => announce(hub, acting(target), hookRoute),
  awaitMail: (hub, target) => awaitMail(hub, acting(target), { ...hookRoute, waitMs: 0, signals: [] }),
  notePrompt: (hub, target) => notePrompt(hub, acting(target)),
  confirmAnnounced: (hub, target) => confirmAnnounced(hub, acting(target), hookRoute.session),
  noteAccepted: (hub, target) => noteAccepted(hub, acting(target), { ...clientSession, turnConfirms: false }),
  returnAnnounced: (hub, target) => returnAnnounced(hub, acting(target), clientSession),
  listWaiting: async (hub, { caller, project, name }) => {
    const { id: agentId } = await needAgent(hub, local, project, name)
    const leave = addWaiter(hub, { agentId, session: 'waits', via: 'claude', since: 0, displaced: () => {} })
    const found = await listWaiting(hub, caller)
    leave()
    return found.filter((agent) => agent.name === name)
  },
  // The verbs before it have announced the message: who is told so was let in.
  claimForBridge: (hub, target) =>
    claimForBridge(hub, acting(target), { uid: target.messageUid, via: 'openclaw' }).catch((error) => {
      if (error.code !== 'MESSAGE_CLAIMED') throw error
    }),
  noteStep: (hub, target) => noteStep(hub, acting(target), clientSession, 'turn'),
  bindSession: (hub, target) => bindSession(hub, acting(target), clientSession),
  actingOf: (hub, target) => actingOf(hub, looking(target)),
  findHookAgent: (hub, { caller, name, project }) => findHookAgent(hub, caller, { name, project, ...clientSession }),
  describeReach: async (hub, { caller }) => [...(await describeReach(hub, caller, [{ id: 1, activeAt: 1 }]))],
  reaching: (hub, target) => reaching(hub, target.caller, () => sendAs(hub, target)),
  withReach: async (hub, target) => withReach(hub, target.caller, await sendAs(hub, target), hub.clock.monotonic()),
  reply: (hub, target) => reply(hub, acting(target), { messageId: target.messageId, body: 'yes' }),
  converse: (hub, target) => converse(hub, acting(target), { to: { name: target.other }, subject: 'a', body: 'b' }),
  requestConnection: (hub, target) => requestConnection(hub, acting(target), { to: { name: target.stranger } }),
  approveConnection: (hub, target) => approveConnection(hub, acting(target), target.code),
  answerConnection: (hub, target) => answerConnection(hub, acting(target), { id: target.connection, accept: true }),
  listPendingConnections: (hub, target) => listPendingConnections(hub, acting(target)),
  claimMessage: (hub, target) => claimMessage(hub, acting(target), { uid: target.messageUid }),
  keepSessionKey: (hub, target) => keepSessionKey(hub, acting(target), { uid: target.threadUid, sessionKey: 'main' }),
  markReadCalled: (hub, target) => markReadCalled(hub, acting(target), target.messageUid),
  followArrivals: async (hub, target) => {
    const end = await followArrivals(hub, acting(target), {
      arrived() {},
      asked() {},
      approved() {},
      keysChanged() {},
    })
    end()
  },
  listConversations: async (hub, target) =>
    (await listConversations(hub, acting(target), { unreadOnly: false, limit: 10 })).conversations,
  readConversation: async (hub, target) =>
    (await readConversation(hub, acting(target), { uid: target.threadUid, limit: 10 })).messages,
  listUnread: async (hub, target) => (await listUnread(hub, acting(target), { limit: 10 })).messages,
  needCounterpart: (hub, target) => needCounterpart(hub, acting(target), target.threadUid),
  requestContact: (hub, target) => requestContact(hub, acting(target), { to: { name: target.other } }),
  respondContact: (hub, target) => respondContact(hub, acting(target), { from: { name: target.other }, accept: true }),

  take: (hub, target) => take(hub, acting(target), now),
  takeInRun: (hub, target) => takeInRun(hub, acting(target), 'a-run-that-is-over'),
  borrowMail: (hub, target) => borrowMail(hub, acting(target), { waitMs: 0, signals: [], session: 'run' }),
  renewRun: async (hub, target) => void (await renewRun(hub, acting(target), 'a-run')),
  endRun: async (hub, target) => void (await endRun(hub, acting(target), { run: 'a-run', handled: true })),
  takeReply: (hub, target) => takeReply(hub, acting(target), target.messageId),
  sendAndAwait: (hub, target) =>
    sendAndAwait(hub, acting(target), () => sendAs(hub, target), { waitMs: 0, signals: [] }),
  acknowledge: async (hub, target) => void (await acknowledge(hub, acting(target), target.lent)),
  markRead: (hub, target) => markRead(hub, acting(target), target.messageId),
  acknowledgeMessage: (hub, target) => acknowledgeMessage(hub, acting(target), target.messageId),
  noteDelivered: async (hub, target) => noteDelivered(hub, acting(target), [target.messageId]),
  listInbox: async (hub, target) => (await listInbox(hub, acting(target), { limit: 10 })).messages,
  freeLeases: (hub, { caller, project, name }) =>
    freeLeases(hub, caller, project, { ids: [], patterns: [`src/${name}.ts`] }),
  listOutbox: (hub, target) => listOutbox(hub, acting(target), { limit: 10 }).then(() => true),

  findSchemaVersion: (hub, { caller }) => findSchemaVersion(hub, caller),
  createTopic: (hub, { caller, project }) => createTopic(hub, caller, project, { name: 'new', mode: 'reuse' }),
  listTopics: async (hub, { caller, project }) =>
    (await listTopics(hub, caller, project, { status: 'all', limit: 10 })).topics,
  resolveTopic: (hub, { caller, project, topic }) =>
    resolveTopic(hub, caller, project, { name: topic.name, allowClosed: true }),
  needTopic: (hub, { caller, project, topic }) => needTopic(hub, caller, project, topic.uid),
  needTopicCalled: (hub, { caller, project, topic }) => needTopicCalled(hub, caller, project, topic.name),
  summarizeTopics: (hub, { caller, project }) => summarizeTopics(hub, caller, project, 'all'),
  closeTopic: (hub, { caller, project, topic }) => closeTopic(hub, caller, project, { uid: topic.uid }),
  reopenTopic: (hub, { caller, project, topic }) => reopenTopic(hub, caller, project, topic.uid),
  listPresent: (hub, { caller, project, topic }) =>
    listPresent(hub, caller, project, { uid: topic.uid, windowMs: 1000, limit: 10 }),
  join: (hub, target) => join(hub, holding(target), { topic: target.topic, name: target.name, token: undefined }),
  sync: (hub, target) => sync(hub, holding(target), target.topic.uid, { ...syncing, waitMs: 0, signals: [] }),
  resetCursor: (hub, target) => resetCursor(hub, holding(target), target.topic.uid, 0),
  remark: (hub, target) =>
    remark(hub, acting(target), { topic: target.topic, outgoing: { body: 'x', kind: 'message' } }),
  findLastSeq: (hub, { caller, topic }) => findLastSeq(hub, caller, topic),
  findStart: async (hub, { caller, topic }) => (await findStart(hub, caller, topic, { count: 1 })) + 1,
  findEntry: (hub, { caller, topic }) => findEntry(hub, caller, topic, 1),
  readEntries: async (hub, { caller, topic }) => {
    for await (const entry of readEntries(hub, caller, topic, { after: 0, through: 10 })) return entry
    return []
  },
  awaitNews: (hub, { caller, topic }) =>
    awaitNews(hub, caller, { topic, after: 0, signal: new AbortController().signal }),
  renameTopic: (hub, { caller, topic }) => renameTopic(hub, caller, topic, 'renamed'),
  deleteTopic: async (hub, { caller, topic }) => void (await deleteTopic(hub, caller, topic)),

  readThread: async (hub, { caller, project, thread }) =>
    (await readThread(hub, caller, project, { key: thread, limit: 10 })).messages,
  needMessage: (hub, { caller, project, messageId }) => needMessage(hub, caller, project, messageId),
  summarizeThread: (hub, { caller, project, thread }) =>
    summarizeThread(hub, caller, { project, key: thread, ...refining }),
  summarizeThreads: async (hub, { caller, project, thread }) => {
    const { threads } = await summarizeThreads(hub, caller, { project, keys: [thread], limit: 10, ...refining })
    for (const one of threads) if ('error' in one) throw one.error
    return threads
  },
  listDirectory: async (hub, target) => (await listDirectory(hub, looking(target), { limit: 10 })).agents,
  findListed: (hub, target) => findListed(hub, looking(target), target.name),
  viewThread: async (hub, target) =>
    (await viewThread(hub, looking(target), { thread: target.thread, after: 0, limit: 10 })).messages,
  listOwnThreads: async (hub, target) => (await listOwnThreads(hub, looking(target), { limit: 10 })).threads,
  readEnclosure: (hub, target) =>
    readEnclosure(hub, looking(target), { thread: target.thread, messageId: target.messageId, position: 0 }),
  readByHash: (hub, { caller, project, sha1 }) => readByHash(hub, caller, { sha1, project }),
  write: (hub, target) =>
    write(hub, looking(target), { to: [{ name: target.other }], text: 'hello', thread: target.thread }),
  writeAndAwait: (hub, target) => {
    const letter = { to: [{ name: target.other }], text: 'hello', thread: target.thread }
    return writeAndAwait(hub, looking(target), letter, { waitMs: 0, signals: [] })
  },
  awaitReplies: (hub, { caller, project, name, askedId }) =>
    awaitReplies(hub, { caller, project, name }, askedId, { waitMs: 0, signals: [] }),
  markReplies: (hub, target) => markReplies(hub, looking(target), [target.messageId]),
  beginFollowing: (hub, target) => beginFollowing(hub, looking(target), { kind: 'thread', thread: target.thread }),
  goOnAfter: (hub, target) => goOnAfter(hub, looking(target)),
  followUpdates: async (hub, target) => {
    const told: string[] = []
    const watched = { uri: 'the thread', target: { kind: 'thread', thread: target.thread }, from: start } as const
    const stop = await followUpdates(hub, looking(target), {
      resources: [{ ...watched, mark: { at: 0 } }],
      tell: ({ uri }) => told.push(uri),
    })
    stop()
    return told
  },
  createGrant: (hub, target) =>
    createGrant(hub, looking(target), {
      agent: { name: target.other },
      thread: target.thread,
      can: 'read',
      ttlMs: 60_000,
    }),
  listGrants: async (hub, target) => (await listGrants(hub, looking(target), { limit: 10 })).grants.length >= 0,
  revokeGrant: (hub, target) => revokeGrant(hub, looking(target), target.grant).then(() => true),
  grantServer: (hub, target) =>
    grantServer(hub, looking(target), { agent: { name: target.other }, server: 'tickets', ttlMs: 1000 }),
  listServerGrants: async (hub, target) =>
    (await listServerGrants(hub, looking(target), { limit: 10 })).grants.length >= 0,
  revokeServerGrant: (hub, target) => revokeServerGrant(hub, looking(target), target.serverGrant).then(() => true),
  listCallable: (hub, target) => listCallable(hub, looking(target)),
  callRemoteTool: (hub, target) => {
    const { signal } = new AbortController()
    return callRemoteTool(hub, looking(target), { tool: 'tickets.search', args: {}, signal })
  },
  findCommits: (hub, target) => findCommits(hub, acting(target), []).then(() => true),
  describeCommits: (hub, target) => describeCommits(hub, acting(target), []).then(() => true),
  listRecentCommits: (hub, { caller, project, name }) =>
    listRecentCommits(hub, caller, project, { name, limit: 5 }).then(() => true),

  searchProject: async (hub, { caller, project, word }) =>
    (await searchProject(hub, caller, project, { query: `subject:plan ${word}` })).hits,
  searchTopics: async (hub, { caller, project, word }) =>
    (await searchTopics(hub, caller, project, { query: word })).hits,

  startWork: (hub, { caller, project, name }) =>
    startWork(hub, caller, { newcomer: { project, name }, wanted, inbox: { limit: 10 } }),
  prepareForThread: (hub, { caller, project, name, thread }) =>
    prepareForThread(hub, caller, {
      who: { known: { project, name } },
      thread,
      refining,
      inbox: () => ({ limit: 10 }),
    }),
  lookForConflicts: (hub, target) => lookForConflicts(hub, acting(target), wanted),
  listWithFigures: (hub, { caller }) => listWithFigures(hub, caller),
  planMerge: (hub, { caller, project }) => planMerge(hub, caller, project, 'commons'),
  async mergeProjects(hub, { caller, project }) {
    const { slug } = caller.readOnly ? { slug: project } : await ensureProject(hub, operator, '/srv/access/goes')
    return mergeProjects(hub, caller, slug, project)
  },
  async renameProject(hub, { caller, project }) {
    const { slug } = caller.readOnly ? { slug: project } : await ensureProject(hub, operator, '/srv/access/moves')
    return renameProject(hub, caller, slug, '/srv/access/moves')
  },
  exportProject: (hub, { caller, project }) => exportProject(hub, caller, { project, write: async () => {} }),
  importProject: (hub, { caller }) => importProject(hub, caller, { records: () => anExport }),
  planRetention: async (hub, { caller }) => (await planRetention(hub, caller, retention).next()).value,
  applyRetention: (hub, { caller }) => applyRetention(hub, caller, { ...retention, keep: async () => '' }),
  surveys: async (hub, { caller }) =>
    (await surveys(hub, caller, { ...retention, inboxLimit: 0, pause: async () => {} }).next()).value,
  findQuotas: (hub, { caller }) => findQuotas(hub, caller),
  backUp: (hub, { caller }) => backUp(hub, caller, { archives: 'none', parley: '', write: async () => {} }),

  ...pageVerbs,

  shakeHands: (hub, target) => shakeHands(hub, acting(target), { with: { name: target.other }, accept: false }),
}
