/** Who may do what: a line for each verb that doors can reach, tried in access.test.ts and shown in docs/access.md. */

/** A caller, and whose things it reaches for. */
export const cases = {
  localKeyless: 'local, an agent without a key',
  localKeyed: 'local, an agent with a key',
  operator: 'operator, an agent with a key',
  itself: 'agent, itself',
  another: 'agent, another one of its project',
  elsewhere: 'agent, another project',
} as const

export type Case = keyof typeof cases

/** It works, it finds nothing, or it fails with this code. */
export type Outcome =
  | 'yes'
  | 'nothing'
  | 'FORBIDDEN'
  | 'PROJECT_NOT_FOUND'
  | 'AGENT_NOT_FOUND'
  | 'MESSAGE_NOT_FOUND'
  | 'THREAD_NOT_FOUND'
  | 'TOPIC_NOT_FOUND'

export type Row = Readonly<Record<Case, Outcome>>

const row = (...[localKeyless, localKeyed, operator, itself, another, elsewhere]: Outcome[]): Row =>
  ({ localKeyless, localKeyed, operator, itself, another, elsewhere }) as Row

/** Done in an agent's name. */
const asAgent = row('yes', 'FORBIDDEN', 'yes', 'yes', 'FORBIDDEN', 'PROJECT_NOT_FOUND')
/** What a project shows to all who may look into it: its agents, leases and topics. */
const inProject = row('yes', 'yes', 'yes', 'yes', 'yes', 'PROJECT_NOT_FOUND')
/** A topic that was found before. */
const inTopic = row('yes', 'yes', 'yes', 'yes', 'yes', 'TOPIC_NOT_FOUND')
/** For everybody. */
const anybody = row('yes', 'yes', 'yes', 'yes', 'yes', 'yes')
/** For those who look after the hub. */
const steering = row('yes', 'yes', 'yes', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN')
/** For people, who are the operator. */
const people = row('FORBIDDEN', 'FORBIDDEN', 'yes', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN')
/** Mail between two agents, both with a key unless the case says otherwise. */
const ofThread = row('yes', 'THREAD_NOT_FOUND', 'yes', 'yes', 'THREAD_NOT_FOUND', 'PROJECT_NOT_FOUND')

/** By room, in the order of the rooms. */
export const matrix = {
  access: { listHeldChores: steering },
  projects: {
    ensureProject: inProject,
    needProject: inProject,
    listProjects: row('yes', 'yes', 'yes', 'yes', 'yes', 'nothing'),
  },
  agents: {
    register: asAgent,
    createIdentity: steering,
    createKey: asAgent,
    canActAs: row('yes', 'nothing', 'yes', 'yes', 'nothing', 'PROJECT_NOT_FOUND'),
    needAgent: inProject,
    needHome: row('yes', 'yes', 'yes', 'yes', 'yes', 'AGENT_NOT_FOUND'),
    whois: inProject,
    listAgents: inProject,
    pageAgents: inProject,
    countAgents: row('yes', 'yes', 'yes', 'yes', 'yes', 'nothing'),
  },
  leases: {
    reserve: asAgent,
    renew: asAgent,
    release: asAgent,
    listLeases: inProject,
    listExpiring: inProject,
    installGuard: steering,
    describeGuard: steering,
    uninstallGuard: steering,
  },
  contacts: { listContacts: asAgent, setContactPolicy: asAgent },
  messages: { send: asAgent, reply: asAgent },
  requests: { requestContact: asAgent, respondContact: asAgent },
  mail: {
    take: asAgent,
    acknowledge: asAgent,
    markRead: asAgent,
    acknowledgeMessage: asAgent,
    listInbox: asAgent,
    listOutbox: asAgent,
    freeLeases: people,
  },
  topics: {
    findSchemaVersion: anybody,
    createTopic: inProject,
    listTopics: inProject,
    resolveTopic: inProject,
    needTopic: inProject,
    needTopicCalled: inProject,
    summarizeTopics: inProject,
    closeTopic: inProject,
    reopenTopic: inProject,
    listPresent: inProject,
    join: asAgent,
    sync: asAgent,
    resetCursor: asAgent,
    remark: asAgent,
    findLastSeq: inTopic,
    findStart: inTopic,
    findEntry: inTopic,
    readEntries: inTopic,
    awaitNews: inTopic,
    renameTopic: steering,
    deleteTopic: steering,
  },
  threads: {
    readThread: ofThread,
    needMessage: row('yes', 'MESSAGE_NOT_FOUND', 'yes', 'yes', 'MESSAGE_NOT_FOUND', 'PROJECT_NOT_FOUND'),
    summarizeThread: ofThread,
    summarizeThreads: ofThread,
    listDirectory: asAgent,
    findListed: asAgent,
    viewThread: asAgent,
    listOwnThreads: asAgent,
    readEnclosure: asAgent,
    write: asAgent,
    awaitReplies: asAgent,
    createGrant: asAgent,
    listGrants: asAgent,
    revokeGrant: asAgent,
  },
  archive: { findCommits: asAgent, describeCommits: asAgent, listRecentCommits: inProject },
  search: {
    searchProject: row('yes', 'nothing', 'yes', 'yes', 'nothing', 'PROJECT_NOT_FOUND'),
    searchTopics: inProject,
  },
  macros: {
    startWork: asAgent,
    prepareForThread: asAgent,
    lookForConflicts: asAgent,
    shakeHands: asAgent,
  },
  transfers: { exportProject: steering, importProject: steering },
  backups: { backUp: steering },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Row>>>>

type Rooms = typeof matrix
export type Verb = { [Room in keyof Rooms]: keyof Rooms[Room] }[keyof Rooms]

export const rows = Object.assign({}, ...Object.values(matrix)) as Readonly<Record<Verb, Row>>
