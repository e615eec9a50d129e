/** The table of routes: each page and form is loaded when it is first asked for. */
import type { Submit } from './forms.ts'
import type { Respond } from './page.ts'

export type LoadPage = () => Promise<{ readonly page: Respond }>
export type LoadForm = () => Promise<{ readonly submit: Submit }>

export const pages: Readonly<Record<string, LoadPage>> = {
  '/mail': () => import('./pages/home.ts'),
  '/mail/unified-inbox': () => import('./pages/unified-inbox.ts'),
  '/mail/projects': () => import('./pages/projects.ts'),
  '/mail/agents': () => import('./pages/agents.ts'),
  '/mail/attention': () => import('./pages/attention.ts'),
  '/mail/jump': () => import('./pages/jump.ts'),
  '/mail/search': () => import('./pages/search.ts'),
  '/mail/invitations': () => import('./pages/invitations.ts'),
  '/mail/overseer/compose': () => import('./pages/compose.ts'),
  '/mail/:project': () => import('./pages/project.ts'),
  '/mail/:project/search': () => import('./pages/search.ts'),
  '/mail/:project/inbox/:agent': () => import('./pages/inbox.ts'),
  '/mail/:project/message/:id': () => import('./pages/message.ts'),
  '/mail/:project/threads': () => import('./pages/threads.ts'),
  '/mail/:project/thread/:thread': () => import('./pages/thread.ts'),
  '/mail/:project/file_reservations': () => import('./pages/reservations.ts'),
  '/mail/:project/contacts': () => import('./pages/contacts.ts'),
  '/mail/:project/attachments': () => import('./pages/attachments.ts'),
  '/mail/:project/activity': () => import('./pages/activity.ts'),
  '/mail/:project/overseer/compose': () => import('./pages/compose.ts'),
}

/** By the path that they are posted to: that of the page that shows them, where there is one. */
export const forms: Readonly<Record<string, LoadForm>> = {
  '/mail/seen': () => import('./forms/seen.ts'),
  '/mail/saved-searches': () => import('./forms/saved-searches.ts'),
  '/mail/attention': () => import('./forms/needs.ts'),
  '/mail/undo': () => import('./forms/undo.ts'),
  '/mail/invitations': () => import('./forms/invitations.ts'),
  '/mail/overseer/compose': () => import('./forms/compose.ts'),
  '/mail/:project/overseer/compose': () => import('./forms/compose.ts'),
  '/mail/:project/thread/:thread': () => import('./forms/thread.ts'),
  '/mail/:project/inbox/:agent': () => import('./forms/inbox.ts'),
  '/mail/:project/contacts': () => import('./forms/contacts.ts'),
  '/mail/:project/file_reservations': () => import('./forms/reservations.ts'),
  '/mail/:project/related': () => import('./forms/related.ts'),
}
