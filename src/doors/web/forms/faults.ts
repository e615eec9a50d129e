/** Faults that the hub finds in what was typed, at the field that they are about. */
import { type Code, HubError, type Reason } from '../../../base/errors.ts'
import { FormFault } from '../forms.ts'
import { nextOf } from '../login.ts'
import { urlWith } from '../site.ts'

const fields: Partial<Record<Reason, string>> = {
  bad_body: 'body_md',
  bad_recipients: 'recipients',
  bad_subject: 'subject',
  bad_thread: 'thread_id',
}

/**
 * Runs `work`; a fault in a field becomes one of the form, which shows everything again. `byCode`: the field that an error without
 * a reason of its own is about.
 */
export async function checkedBy<Value>(
  work: Promise<Value>,
  byCode: Partial<Record<Code, string>> = {},
): Promise<Value> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    const field = error.reason === undefined ? byCode[error.code] : fields[error.reason]
    if (field === undefined) throw error
    throw new FormFault({ [field]: error.message })
  }
}

/** The page that the form came from, if it says so; else the usual one. */
export function backTo(
  form: URLSearchParams,
  usual: string,
  done: string,
  undo?: readonly (string | number)[],
): string {
  const next = form.get('next')
  const [path = usual, query] = (next === null ? usual : nextOf(next)).split('?', 2)
  return urlWith(
    { path, query: new URLSearchParams(query) },
    { done, undo: undo && JSON.stringify(undo.map(String)), confirm: undefined },
  )
}

/** A field that a button of the page always sends. */
export function needField(form: URLSearchParams, name: string): string {
  const value = form.get(name)?.trim() ?? ''
  if (value === '') throw new HubError('INVALID_ARGUMENT', `The form needs ${name}.`)
  return value
}

/** One of the words that a field may hold. */
export function needWord<Word extends string>(form: URLSearchParams, name: string, words: readonly Word[]): Word {
  const value = needField(form, name)
  const word = words.find((one) => one === value)
  if (word === undefined) throw new HubError('INVALID_ARGUMENT', `${name} must be ${words.join(' or ')}.`)
  return word
}

/** The id of a message or reservation. */
export function needId(text: string, name: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new HubError('INVALID_ARGUMENT', `${name} must be a number.`)
}
