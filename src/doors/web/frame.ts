/** The frame around every page: how much needs a person, the projects, the newest threads, and answers to people. */
import { readFrame } from '../../core/pages/frame.ts'
import { countNewTo, type NewCounts } from '../../core/pages/marks.ts'
import type { Answers } from '../../core/pages/person-answers.ts'
import { threadTitle } from './parts/people.ts'
import { at, type Visit } from './site.ts'

export interface Frame {
  /** Unread mail to people, by project. */
  readonly answers: readonly Answers[]
  /** How many lines the list of what needs a person has. */
  readonly needs: { readonly count: number; readonly more: boolean }
  /** With how many messages are new to the person who looks, as in the threads. */
  readonly projects: readonly { readonly slug: string; readonly fresh: number }[]
  readonly moreProjects: boolean
  readonly threads: readonly { readonly href: string; readonly subject: string; readonly fresh: number }[]
  readonly fresh: Pick<NewCounts, 'total' | 'capped'>
}

/** For pages that nobody may look behind: the login, and errors of those who are not known. */
export const bareFrame: Frame = {
  answers: [],
  needs: { count: 0, more: false },
  projects: [],
  moreProjects: false,
  threads: [],
  fresh: { total: 0, capped: false },
}

export async function loadFrame({ hub, caller, mark, marks }: Visit): Promise<Frame> {
  const [{ answers, needs, projects, threads }, fresh] = await Promise.all([
    readFrame(hub, caller, { mark }),
    countNewTo(hub, caller, marks),
  ])
  return {
    answers,
    needs,
    projects: projects.items.map(({ id, slug }) => ({ slug, fresh: fresh.projects.get(id) ?? 0 })),
    moreProjects: projects.next !== undefined,
    threads: threads.items.map(({ id, threadId, project, thread, subject, title, sealed }) => ({
      href: at(project, 'thread', thread ?? String(id)),
      subject: sealed ? 'Sealed thread' : threadTitle(title ?? subject, thread),
      fresh: fresh.threads.get(threadId) ?? 0,
    })),
    fresh,
  }
}
