/** The access matrix: a line for each verb that doors can reach, tried in access.test.ts and shown in docs/internals/access-matrix.md. */

/** A caller, and whose things it reaches for. */
export const cases = {
  localKeyless: 'local, an agent without a key',
  localKeyed: 'local, an agent with a key',
  operator: 'operator, an agent with a key',
  itself: 'agent, itself',
  another: 'agent, another one of its project',
  elsewhere: 'agent, another project',
  itselfReading: 'agent that may only read, itself',
  writerKeyless: 'writer, an agent without a key',
  writerKeyed: 'writer, an agent with a key',
  readerKeyless: 'reader, an agent without a key',
  readerKeyed: 'reader, an agent with a key',
  auditor: 'auditor, an agent with a key',
} as const

export type Case = keyof typeof cases

/** It works, it finds nothing, or it fails with this code. */
export type Outcome =
  | 'yes'
  | 'nothing'
  | 'FORBIDDEN'
  | 'UNAUTHENTICATED'
  | 'NOT_FOUND'
  | 'PROJECT_NOT_FOUND'
  | 'AGENT_NOT_FOUND'
  | 'CONTACT_NOT_FOUND'
  | 'MESSAGE_NOT_FOUND'
  | 'THREAD_NOT_FOUND'
  | 'TOPIC_NOT_FOUND'
  | 'LEASE_EXPIRED'

export type Row = Readonly<Record<Case, Outcome>>

type Six = [
  localKeyless: Outcome,
  localKeyed: Outcome,
  operator: Outcome,
  itself: Outcome,
  another: Outcome,
  elsewhere: Outcome,
]

const six = (...[localKeyless, localKeyed, operator, itself, another, elsewhere]: Six) => ({
  ...{ localKeyless, localKeyed, operator, itself, another, elsewhere },
  ...{ writerKeyless: localKeyless, writerKeyed: localKeyed },
})

/** A verb that changes nothing: a reader finds what a local caller does, an agent that may only read what it always does, an auditor what the operator does. */
function reads(...outcomes: Six): Row {
  const row = six(...outcomes)
  const readers = { itselfReading: row.itself, readerKeyless: row.localKeyless, readerKeyed: row.localKeyed }
  return { ...row, ...readers, auditor: row.operator }
}

/** A verb that changes something, for those who may. */
const writes = (...outcomes: Six): Row => ({
  ...six(...outcomes),
  itselfReading: 'FORBIDDEN',
  readerKeyless: 'FORBIDDEN',
  readerKeyed: 'FORBIDDEN',
  auditor: 'FORBIDDEN',
})

/** Looked at, or done, in an agent's name. */
const asAgent = ['yes', 'FORBIDDEN', 'yes', 'yes', 'FORBIDDEN', 'PROJECT_NOT_FOUND'] as const
const readsAsAgent = reads(...asAgent)
const writesAsAgent = writes(...asAgent)
/** The same with a run that is over. */
const writesInRun = writes(
  'LEASE_EXPIRED',
  'FORBIDDEN',
  'LEASE_EXPIRED',
  'LEASE_EXPIRED',
  'FORBIDDEN',
  'PROJECT_NOT_FOUND',
)
/** Done with the keys of an agent. */
const writesAsOwner = writes('FORBIDDEN', 'FORBIDDEN', 'yes', 'yes', 'FORBIDDEN', 'PROJECT_NOT_FOUND')
/** Verbs on agents, leases and topics of a project, open to everybody who may look into it. */
const inProject = ['yes', 'yes', 'yes', 'yes', 'yes', 'PROJECT_NOT_FOUND'] as const
const readsProject = reads(...inProject)
const writesProject = writes(...inProject)
/** A topic that was found before. */
const readsTopic = reads('yes', 'yes', 'yes', 'yes', 'yes', 'TOPIC_NOT_FOUND')
/** For everybody. */
const anybody = reads('yes', 'yes', 'yes', 'yes', 'yes', 'yes')
/** About the agent of the key, whoever else is named. */
const ownKey: Row = {
  ...reads('UNAUTHENTICATED', 'UNAUTHENTICATED', 'FORBIDDEN', 'yes', 'yes', 'yes'),
  ...{ writerKeyless: 'FORBIDDEN', writerKeyed: 'FORBIDDEN', readerKeyless: 'FORBIDDEN', readerKeyed: 'FORBIDDEN' },
}
/** At the hub a token that names no agent is nobody, whatever it reaches for. */
const orNobody = (row: Row, outcome: Outcome): Row => ({
  ...row,
  ...{ writerKeyless: outcome, writerKeyed: outcome, readerKeyless: outcome, readerKeyed: outcome },
})
/** How the server is doing; for all but agents. */
const oversight = reads('yes', 'yes', 'yes', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN')
/** For those who are there, or are the operator: a token comes from anywhere. */
const steering: Row = {
  ...writes('yes', 'yes', 'yes', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'),
  ...{ writerKeyless: 'FORBIDDEN', writerKeyed: 'FORBIDDEN' },
}
/** For people, who are the operator. */
const people = writes('FORBIDDEN', 'FORBIDDEN', 'yes', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN')
/** The same for what is not there. */
const peopleFindNone: Row = { ...people, operator: 'NOT_FOUND' }
/** Mail between two agents, both with a key unless the case says otherwise. */
const ofThread = reads('yes', 'THREAD_NOT_FOUND', 'yes', 'yes', 'THREAD_NOT_FOUND', 'PROJECT_NOT_FOUND')

/** A caller that is no agent sees everything on the pages, perhaps sealed. */
const onPages = (all: Outcome, another: Outcome, elsewhere: Outcome): Row =>
  reads(all, all, all, all, another, elsewhere)

/** By room, in the order of the rooms. */
export const matrix = {
  access: {
    listHeldChores: oversight,
    logIn: anybody,
    holdsKey: reads('nothing', 'nothing', 'nothing', 'yes', 'nothing', 'nothing'),
  },
  projects: {
    openProject: writesProject,
    needProject: readsProject,
    listProjects: reads('yes', 'yes', 'yes', 'yes', 'yes', 'nothing'),
  },
  agents: {
    register: writesAsAgent,
    createIdentity: writes('yes', 'yes', 'yes', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'),
    createKey: writesAsAgent,
    rotateKey: writesAsOwner,
    revokeKeys: writesAsOwner,
    listKeys: readsAsAgent,
    listAllKeys: steering,
    registerOwned: steering,
    invite: steering,
    listInvitations: steering,
    revokeInvitation: steering,
    // The code is what lets them in; whoever may only read is given no key.
    acceptInvitation: writes('yes', 'yes', 'yes', 'yes', 'yes', 'yes'),
    needSelf: ownKey,
    describeSelf: ownKey,
    canActAs: reads('yes', 'nothing', 'yes', 'yes', 'nothing', 'PROJECT_NOT_FOUND'),
    findSelf: reads('yes', 'yes', 'yes', 'yes', 'FORBIDDEN', 'FORBIDDEN'),
    findStanding: reads('yes', 'nothing', 'yes', 'yes', 'FORBIDDEN', 'FORBIDDEN'),
    projectOfCall: anybody,
    selfInFolder: reads('yes', 'yes', 'yes', 'nothing', 'nothing', 'nothing'),
    // Of two names that the caller has: it is told nothing else.
    isSameProject: anybody,
    needAgent: readsProject,
    needHome: reads('yes', 'yes', 'yes', 'yes', 'yes', 'AGENT_NOT_FOUND'),
    whois: readsProject,
    listAgents: readsProject,
    pageAgents: readsProject,
    listAllAgents: reads('yes', 'yes', 'yes', 'yes', 'yes', 'nothing'),
    countAgents: reads('yes', 'yes', 'yes', 'yes', 'yes', 'nothing'),
  },
  leases: {
    reserve: writesAsAgent,
    renew: writesAsAgent,
    release: writesAsAgent,
    listLeases: readsProject,
    listExpiring: readsProject,
    installGuard: steering,
    describeGuard: steering,
    uninstallGuard: steering,
  },
  contacts: { listContacts: readsAsAgent, setContactPolicy: writesAsAgent },
  messages: { send: writesAsAgent, reply: writesAsAgent, converse: writesAsAgent },
  presence: {
    reaching: writesAsAgent,
    withReach: writesAsAgent,
    announce: writesAsAgent,
    awaitMail: writesAsAgent,
    confirmAnnounced: writesAsAgent,
    noteAccepted: writesAsAgent,
    returnAnnounced: writesAsAgent,
    listWaiting: reads('yes', 'yes', 'yes', 'yes', 'yes', 'nothing'),
    noteStep: writesAsAgent,
    claimForBridge: writesAsAgent,
    bindSession: writesAsAgent,
    actingOf: orNobody(reads('yes', 'yes', 'yes', 'yes', 'FORBIDDEN', 'PROJECT_NOT_FOUND'), 'FORBIDDEN'),
    findHookAgent: reads('yes', 'yes', 'yes', 'yes', 'FORBIDDEN', 'FORBIDDEN'),
    describeReach: reads('yes', 'yes', 'yes', 'nothing', 'nothing', 'nothing'),
    borrowMail: writesAsAgent,
    renewRun: writesAsAgent,
    endRun: writesAsAgent,
    notePrompt: writesAsAgent,
  },
  requests: {
    requestContact: writesAsAgent,
    respondContact: writesAsAgent,
    requestConnection: writesAsAgent,
    listPendingConnections: readsAsAgent,
    approveConnection: writesAsAgent,
    answerConnection: writesAsAgent,
  },
  mail: {
    findQuotas: anybody,
    surveys: steering,
    claimMessage: writesAsAgent,
    keepSessionKey: writesAsAgent,
    followArrivals: readsAsAgent,
    listConversations: readsAsAgent,
    readConversation: readsAsAgent,
    markReadCalled: writesAsAgent,
    listUnread: readsAsAgent,
    needCounterpart: readsAsAgent,
    take: writesAsAgent,
    takeReply: writesAsAgent,
    takeInRun: writesInRun,
    acknowledge: writesAsAgent,
    markRead: writesAsAgent,
    acknowledgeMessage: writesAsAgent,
    listInbox: readsAsAgent,
    noteDelivered: anybody,
    listOutbox: readsAsAgent,
    freeLeases: people,
  },
  topics: {
    findSchemaVersion: anybody,
    createTopic: writesProject,
    listTopics: readsProject,
    resolveTopic: readsProject,
    needTopic: readsProject,
    needTopicCalled: readsProject,
    summarizeTopics: readsProject,
    closeTopic: writesProject,
    reopenTopic: writesProject,
    listPresent: readsProject,
    join: writesAsAgent,
    sync: writesAsAgent,
    resetCursor: writesAsAgent,
    remark: writesAsAgent,
    findLastSeq: readsTopic,
    findStart: readsTopic,
    findEntry: readsTopic,
    readEntries: readsTopic,
    awaitNews: readsTopic,
    renameTopic: steering,
    deleteTopic: steering,
  },
  threads: {
    readThread: ofThread,
    needMessage: reads('yes', 'MESSAGE_NOT_FOUND', 'yes', 'yes', 'MESSAGE_NOT_FOUND', 'PROJECT_NOT_FOUND'),
    summarizeThread: ofThread,
    summarizeThreads: ofThread,
    listDirectory: orNobody(readsAsAgent, 'yes'),
    findListed: orNobody(readsAsAgent, 'yes'),
    viewThread: orNobody(readsAsAgent, 'THREAD_NOT_FOUND'),
    listOwnThreads: orNobody(readsAsAgent, 'nothing'),
    readEnclosure: orNobody(readsAsAgent, 'THREAD_NOT_FOUND'),
    readByHash: reads('yes', 'NOT_FOUND', 'yes', 'yes', 'NOT_FOUND', 'PROJECT_NOT_FOUND'),
    write: orNobody(writesAsAgent, 'FORBIDDEN'),
    sendAndAwait: writesAsAgent,
    writeAndAwait: orNobody(writesAsAgent, 'FORBIDDEN'),
    awaitReplies: orNobody(readsAsAgent, 'MESSAGE_NOT_FOUND'),
    markReplies: orNobody(readsAsAgent, 'yes'),
    beginFollowing: anybody,
    goOnAfter: anybody,
    followUpdates: {
      ...reads('yes', 'nothing', 'yes', 'yes', 'nothing', 'nothing'),
      ...{ writerKeyless: 'nothing', readerKeyless: 'nothing' },
    },
    createGrant: orNobody(writesAsAgent, 'THREAD_NOT_FOUND'),
    listGrants: orNobody(readsAsAgent, 'yes'),
    revokeGrant: orNobody(writesAsAgent, 'NOT_FOUND'),
  },
  bridge: {
    grantServer: people,
    listServerGrants: orNobody(readsAsAgent, 'yes'),
    revokeServerGrant: people,
    listCallable: orNobody(reads('yes', 'nothing', 'yes', 'yes', 'nothing', 'nothing'), 'nothing'),
    callRemoteTool: {
      ...writes('yes', 'NOT_FOUND', 'yes', 'yes', 'NOT_FOUND', 'NOT_FOUND'),
      ...{ writerKeyless: 'NOT_FOUND', writerKeyed: 'NOT_FOUND' },
    },
  },
  archive: { findCommits: readsAsAgent, describeCommits: readsAsAgent, listRecentCommits: readsProject },
  search: {
    searchProject: reads('yes', 'nothing', 'yes', 'yes', 'nothing', 'PROJECT_NOT_FOUND'),
    searchTopics: readsProject,
  },
  macros: {
    startWork: writesAsAgent,
    prepareForThread: readsAsAgent,
    lookForConflicts: writesAsAgent,
    shakeHands: writesAsAgent,
  },
  oversight: {
    listAllMail: onPages('yes', 'nothing', 'nothing'),
    listAllThreads: onPages('yes', 'nothing', 'nothing'),
    listPageProjects: onPages('yes', 'yes', 'nothing'),
    listWorkers: readsProject,
    overviewProject: readsProject,
    listBox: onPages('yes', 'AGENT_NOT_FOUND', 'PROJECT_NOT_FOUND'),
    showMessage: onPages('yes', 'MESSAGE_NOT_FOUND', 'PROJECT_NOT_FOUND'),
    readMessage: onPages('yes', 'MESSAGE_NOT_FOUND', 'MESSAGE_NOT_FOUND'),
    traceMessage: onPages('yes', 'MESSAGE_NOT_FOUND', 'MESSAGE_NOT_FOUND'),
    listThreads: readsProject,
    showThread: onPages('yes', 'THREAD_NOT_FOUND', 'PROJECT_NOT_FOUND'),
    countAttention: anybody,
    readBoard: readsProject,
    readNeeds: readsProject,
    readNeedLines: readsProject,
    readFrame: anybody,
    remindAgent: people,
    knowDiscs: anybody,
    listAttention: readsProject,
    listPageLeases: readsProject,
    listProjectContacts: readsProject,
    listAttached: readsProject,
    readAttachment: onPages('NOT_FOUND', 'NOT_FOUND', 'PROJECT_NOT_FOUND'),
    readActivity: readsProject,
    // Without a key nobody but the operator finds what holders of keys write to each other.
    searchMail: reads('yes', 'nothing', 'yes', 'yes', 'nothing', 'PROJECT_NOT_FOUND'),
    findPlaces: anybody,
    readMarks: anybody,
    markSeen: anybody,
    markAllSeen: anybody,
    countNewTo: anybody,
    findMissed: anybody,
    saveSearch: writes('yes', 'yes', 'yes', 'yes', 'yes', 'yes'),
    forgetSearch: writes('yes', 'yes', 'yes', 'yes', 'yes', 'yes'),
    listAddressable: readsProject,
    listGroups: readsProject,
    listSuggestions: anybody,
    findEventPosition: anybody,
    followPageEvents: readsProject,
    followMail: readsProject,
    listDeadLetters: people,
    showDeadLetter: peopleFindNone,
    retryDeadLetter: peopleFindNone,
    dropDeadLetter: peopleFindNone,
    undropDeadLetter: peopleFindNone,
    sendAsOverseer: people,
    answerThread: writes('FORBIDDEN', 'FORBIDDEN', 'yes', 'yes', 'THREAD_NOT_FOUND', 'PROJECT_NOT_FOUND'),
    answerMessage: writes('FORBIDDEN', 'FORBIDDEN', 'yes', 'yes', 'MESSAGE_NOT_FOUND', 'MESSAGE_NOT_FOUND'),
    setTopicStatus: people,
    markReadFor: people,
    markUnreadFor: people,
    undoDenial: peopleFindNone,
    decideContact: people,
    remind: people,
    decideRelated: people,
    listLoops: anybody,
    pauseAgain: steering,
    resumeLoop: {
      ...steering,
      ...{ localKeyless: 'NOT_FOUND', localKeyed: 'NOT_FOUND', operator: 'NOT_FOUND' },
    },
  },
  transfers: {
    exportProject: steering,
    importProject: steering,
    planRetention: steering,
    applyRetention: steering,
    listWithFigures: steering,
    planMerge: steering,
    mergeProjects: steering,
    renameProject: steering,
  },
  backups: { backUp: steering },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Row>>>>

type Rooms = typeof matrix
export type Verb = { [Room in keyof Rooms]: keyof Rooms[Room] }[keyof Rooms]

export const rows = Object.assign({}, ...Object.values(matrix)) as Readonly<Record<Verb, Row>>
