/** Forms: what a page posts to its own address, and how that ends. A fault shows the page again with all that was typed (web.forms.faults). */
import type { Params } from './page.ts'
import type { Visit } from './site.ts'

/** A form that was sent and passed all checks of its origin. The caller of the visit is the person behind it. */
interface Submission {
  readonly visit: Visit
  readonly params: Params
  readonly fields: URLSearchParams
}

/** Done: people are led to a page that shows it, programs get the receipt. */
interface Done {
  /** A path below /mail. */
  readonly see: string
  readonly receipt: object
}

/** Shown again: a preview that has done nothing, or what is shown once, in this answer only. */
interface Shown {
  readonly preview: true
  readonly receipt: object
}

export type Submit = (submission: Submission) => Promise<Done | Shown>

/** The faults of a form, by field; the page of the form shows them (422). */
export class FormFault extends Error {
  readonly faults: Readonly<Record<string, string>>

  constructor(faults: Readonly<Record<string, string>>) {
    super(Object.values(faults).join(' '))
    this.faults = faults
  }
}

/** A form as it was sent, for the page that shows it again. */
export interface Typed {
  readonly fields: URLSearchParams
  readonly faults: Readonly<Record<string, string>>
  readonly preview: boolean
  /** Of a form that was done and is shown again with it. */
  readonly receipt?: object
}

/** Acts that can be taken back, by the word in `done`: the notice then has a button for it. */
export const undoable: ReadonlySet<string> = new Set(['read', 'seen', 'denied', 'resumed', 'dropped'])

/** Sentences that a page shows after a form was done, by the word in its `done` parameter. */
export const notices: Readonly<Record<string, string>> = {
  sent: 'The message is sent.',
  answered: 'Your answer is sent.',
  read: 'Marked as read. The agent will not be offered these again.',
  seen: 'Marked as read.',
  'all-seen': 'Everything until now counts as seen by you.',
  approved: 'The contact is approved.',
  denied: 'The contact is denied.',
  released: 'The reservation is released, and its holder told.',
  reminded: 'Everybody who is late was reminded.',
  resumed: 'The agents are woken again.',
  retried: 'The message is in the mailbox again.',
  dropped: 'The dead letter is off the list.',
  undone: 'Taken back.',
  'reminded-before': 'Nobody was reminded: that is possible once an hour.',
  closed: 'The topic is closed.',
  reopened: 'The topic is open again.',
  confirmed: 'The projects are linked. Agents still ask for contact.',
  dismissed: 'The suggestion is gone.',
  revoked: 'The invitation is no longer good.',
}
