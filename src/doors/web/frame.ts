/** The frame around every page: how much needs a person, the projects, the newest threads, and answers to people. */
import { readFrame } from '../../core/pages/frame.ts'
import type { Answers } from '../../core/pages/person-answers.ts'
import { threadTitle } from './parts/people.ts'
import { at, type Visit } from './site.ts'

export interface Frame {
  /** Unread mail to people, by project. */
  readonly answers: readonly Answers[]
  /** How many lines the list of what needs a person has. */
  readonly needs: number
  readonly projects: readonly { readonly slug: string; readonly unread: number }[]
  readonly moreProjects: boolean
  readonly threads: readonly { readonly href: string; readonly subject: string; readonly count: number }[]
}

/** For pages that nobody may look behind: the login, and errors of those who are not known. */
export const bareFrame: Frame = { answers: [], needs: 0, projects: [], moreProjects: false, threads: [] }

export async function loadFrame({ hub, caller, mark }: Visit): Promise<Frame> {
  const { answers, needs, projects, threads } = await readFrame(hub, caller, { mark })
  return {
    answers,
    needs,
    // The common project is always there, also where nobody uses it.
    projects: projects.items.filter(({ agents, messages }) => agents + messages > 0),
    moreProjects: projects.next !== undefined,
    threads: threads.items.map(({ id, project, thread, subject, title, sealed, count }) => ({
      href: at(project, 'thread', thread ?? String(id)),
      subject: sealed ? 'Sealed mail' : threadTitle(title ?? subject, thread),
      count,
    })),
  }
}
