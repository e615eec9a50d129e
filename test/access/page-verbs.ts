/** One call of each verb of the pages, as the web door makes it. */
import type { Hub } from '../../src/core/hub/hub.ts'
import { readActivity } from '../../src/core/pages/activity.ts'
import { listBox } from '../../src/core/pages/agent-mail.ts'
import { listAttached, readAttachment } from '../../src/core/pages/attachments.ts'
import { readBoard } from '../../src/core/pages/board.ts'
import { listProjectContacts } from '../../src/core/pages/contacts.ts'
import {
  dropDeadLetter,
  listDeadLetters,
  retryDeadLetter,
  showDeadLetter,
  undropDeadLetter,
} from '../../src/core/pages/dead-letters.ts'
import {
  decideContact,
  markReadFor,
  markUnreadFor,
  remind,
  remindAgent,
  undoDenial,
} from '../../src/core/pages/decisions.ts'
import { findEventPosition, followPageEvents } from '../../src/core/pages/events.ts'
import { followMail } from '../../src/core/pages/follow-mail.ts'
import { readFrame } from '../../src/core/pages/frame.ts'
import { knowDiscs } from '../../src/core/pages/initials.ts'
import { findPlaces } from '../../src/core/pages/jump.ts'
import { countAttention, listAttention } from '../../src/core/pages/late-mail.ts'
import { listPageLeases } from '../../src/core/pages/leases.ts'
import { listLoops, pauseAgain, resumeLoop } from '../../src/core/pages/loops.ts'
import {
  countNewTo,
  findMissed,
  markAllSeen,
  markSeen,
  namedPerson,
  readMarks,
  unmarked,
} from '../../src/core/pages/marks.ts'
import { readMessage, showMessage } from '../../src/core/pages/message.ts'
import { readNeedLines, readNeeds } from '../../src/core/pages/needs.ts'
import { listAddressable, sendAsOverseer } from '../../src/core/pages/overseer.ts'
import { listGroups } from '../../src/core/pages/overseer-groups.ts'
import { answerMessage, answerThread, setTopicStatus } from '../../src/core/pages/person-answers.ts'
import { listPageProjects, listWorkers, overviewProject } from '../../src/core/pages/projects.ts'
import { decideRelated, listSuggestions } from '../../src/core/pages/related.ts'
import { forgetSearch, saveSearch } from '../../src/core/pages/saved-searches.ts'
import { searchMail } from '../../src/core/pages/search.ts'
import { listThreads, showThread } from '../../src/core/pages/threads.ts'
import { traceMessage } from '../../src/core/pages/trace.ts'
import { listAllMail, listAllThreads } from '../../src/core/pages/unified-inbox.ts'
import type { Target } from './world.ts'

type Call = (hub: Hub, target: Target) => Promise<unknown>

const page = { limit: 50 }
const ann = namedPerson('Ann')
const search = { path: '/mail/search?q=plan', title: 'plan' }

export const pageVerbs = {
  listAllMail: async (hub, { caller, messageId }) =>
    (await listAllMail(hub, caller, page)).items.filter(({ id }) => id === messageId),
  listAllThreads: async (hub, { caller, thread }) =>
    (await listAllThreads(hub, caller, page)).items.filter((one) => one.thread === thread),
  listPageProjects: async (hub, { caller, project }) =>
    (await listPageProjects(hub, caller, page)).items.filter(({ key }) => key === project),
  listWorkers: (hub, { caller, project }) => listWorkers(hub, caller, project),
  overviewProject: (hub, { caller, project }) => overviewProject(hub, caller, project),
  listBox: (hub, { caller, project, name }) => listBox(hub, caller, project, { name, box: 'inbox', ...page }),
  showMessage: (hub, { caller, project, messageId }) => showMessage(hub, caller, project, messageId),
  readMessage: (hub, { caller, messageId }) => readMessage(hub, caller, messageId),
  traceMessage: (hub, { caller, messageId }) => traceMessage(hub, caller, messageId),
  listThreads: (hub, { caller, project }) => listThreads(hub, caller, project, page),
  showThread: (hub, { caller, project, thread }) => showThread(hub, caller, project, { thread }),
  countAttention: (hub, { caller }) => countAttention(hub, caller),
  readBoard: async (hub, { caller, project }) => (await readBoard(hub, caller, { project })).agents,
  readNeeds: async (hub, { caller, project }) => void (await readNeeds(hub, caller, { project })),
  readNeedLines: async (hub, { caller, project }) => void (await readNeedLines(hub, caller, { project })),
  readFrame: async (hub, { caller }) => void (await readFrame(hub, caller, { mark: 'here' })),
  remindAgent: (hub, { caller, project, name }) => remindAgent(hub, caller, project, name),
  listAttention: (hub, { caller, project }) => listAttention(hub, caller, { view: 'unread', project, ...page }),
  listPageLeases: (hub, { caller, project }) => listPageLeases(hub, caller, project, page),
  listProjectContacts: (hub, { caller, project }) => listProjectContacts(hub, caller, project),
  listAttached: (hub, { caller, project }) => listAttached(hub, caller, project, page),
  readAttachment: (hub, { caller, project }) => readAttachment(hub, caller, project, 'attachments/ab/none.txt'),
  readActivity: (hub, { caller, project }) => readActivity(hub, caller, project, { window: '24h' }),
  searchMail: async (hub, { caller, project, word }) =>
    (await searchMail(hub, caller, { project, query: `subject:plan ${word}`, ...page })).results,
  knowDiscs: async (hub, { caller }) => void (await knowDiscs(hub, caller)),
  findPlaces: async (hub, { caller }) => void (await findPlaces(hub, caller, 'plan')),
  readMarks: async (hub, { caller }) => void (await readMarks(hub, caller, ann)),
  markSeen: async (hub, { caller }) => void (await markSeen(hub, caller, unmarked(ann), [])),
  markAllSeen: (hub, { caller }) => markAllSeen(hub, caller, ann),
  countNewTo: async (hub, { caller }) => void (await countNewTo(hub, caller, unmarked(ann))),
  findMissed: async (hub, { caller }) => void (await findMissed(hub, caller, unmarked(ann), [])),
  saveSearch: (hub, { caller }) => saveSearch(hub, caller, ann, search),
  forgetSearch: (hub, { caller }) => forgetSearch(hub, caller, ann, search.path),
  listAddressable: (hub, { caller, project }) => listAddressable(hub, caller, project),
  listGroups: async (hub, { caller, project }) => void (await listGroups(hub, caller, { project })),
  listSuggestions: async (hub, { caller }) => void (await listSuggestions(hub, caller)),
  findEventPosition: async (hub, { caller }) => void (await findEventPosition(hub, caller)),
  followPageEvents: async (hub, { caller, project }) =>
    (await followPageEvents(hub, caller, { project, tell: () => {} }))(),
  followMail: async (hub, { caller, project }) =>
    (await followMail(hub, caller, { project, tell: async () => {} })).leave(),
  listDeadLetters: async (hub, { caller }) => void (await listDeadLetters(hub, caller, page)),
  showDeadLetter: (hub, { caller, messageId }) => showDeadLetter(hub, caller, messageId),
  retryDeadLetter: (hub, { caller, messageId }) => retryDeadLetter(hub, caller, messageId),
  dropDeadLetter: (hub, { caller, messageId }) => dropDeadLetter(hub, caller, messageId),
  undropDeadLetter: (hub, { caller, messageId }) => undropDeadLetter(hub, caller, messageId),
  sendAsOverseer: (hub, { caller, project, name }) =>
    sendAsOverseer(hub, caller, { project, recipients: [name], subject: 'stop', body: 'please' }),
  answerThread: (hub, { caller, project, thread }) => answerThread(hub, caller, project, { thread, body: 'yes' }),
  answerMessage: (hub, { caller, messageId }) => answerMessage(hub, caller, { messageId, body: 'yes' }),
  setTopicStatus: (hub, { caller, project, topic }) =>
    setTopicStatus(hub, caller, project, { thread: topic.uid, status: 'open' }),
  markReadFor: (hub, { caller, project, name }) => markReadFor(hub, caller, project, { name, ids: 'all' }),
  markUnreadFor: (hub, { caller, project, name }) => markUnreadFor(hub, caller, project, { name, ids: [] }),
  undoDenial: (hub, { caller, project, name, other }) => undoDenial(hub, caller, project, { from: other, to: name }),
  decideContact: (hub, { caller, project, name, other }) =>
    decideContact(hub, caller, project, { from: other, to: name, accept: true }),
  remind: (hub, { caller, messageId }) => remind(hub, caller, messageId),
  listLoops: async (hub, { caller }) => void (await listLoops(hub, caller)),
  resumeLoop: (hub, { caller }) => resumeLoop(hub, caller, 'thread-0'),
  pauseAgain: (hub, { caller }) => pauseAgain(hub, caller, 'thread-0'),
  decideRelated: (hub, { caller, project }) =>
    decideRelated(hub, caller, project, { other: '/srv/away', confirm: false }),
} as const satisfies Readonly<Record<string, Call>>
