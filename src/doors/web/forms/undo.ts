/** Takes back what a person has just done: mail marked as read, a denial, a resumption, a dropped dead letter. */
import { HubError } from '../../../base/errors.ts'
import { undropDeadLetter } from '../../../core/pages/dead-letters.ts'
import { markUnreadFor, undoDenial } from '../../../core/pages/decisions.ts'
import { pauseAgain } from '../../../core/pages/loops.ts'
import type { Submit } from '../forms.ts'
import type { Visit } from '../site.ts'
import { backTo, needField, needId, needWord } from './faults.ts'

/** By the word of the notice that offered it. */
const acts: Readonly<Record<string, (visit: Visit, of: readonly string[]) => Promise<unknown>>> = {
  read: ({ hub, caller }, [project = '', name = '', ...ids]) =>
    markUnreadFor(hub, caller, project, { name, ids: ids.map((id) => needId(id, 'of')) }),
  seen: (visit, of) => acts.read?.(visit, of) ?? Promise.resolve(),
  denied: ({ hub, caller }, [project = '', from = '', to = '']) => undoDenial(hub, caller, project, { from, to }),
  resumed: ({ hub, caller }, [id = '']) => pauseAgain(hub, caller, id),
  dropped: ({ hub, caller }, [id = '']) => undropDeadLetter(hub, caller, needId(id, 'of')),
}

export const submit: Submit = async ({ visit, fields }) => {
  const done = needWord(fields, 'done', Object.keys(acts))
  await acts[done]?.(visit, readOf(needField(fields, 'of')))
  return { see: backTo(fields, '/mail/attention', 'undone'), receipt: { undone: done } }
}

function readOf(text: string): readonly string[] {
  try {
    const of: unknown = JSON.parse(text)
    if (Array.isArray(of) && of.every((part) => typeof part === 'string')) return of
  } catch {
    // As below.
  }
  throw new HubError('INVALID_ARGUMENT', 'of must be a list of words, as the page gave it.')
}
