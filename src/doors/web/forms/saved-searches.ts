/** A search is kept in the sidebar of the person who looks, or taken out of it. */
import { forgetSearch, saveSearch } from '../../../core/pages/saved-searches.ts'
import type { Submit } from '../forms.ts'
import { needField } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller, marks }, fields }) => {
  const forget = fields.get('forget')
  if (forget !== null) {
    await forgetSearch(hub, caller, marks.person, forget)
    return { see: searchPath(forget), receipt: { forgotten: forget } }
  }
  const path = needField(fields, 'save')
  await saveSearch(hub, caller, marks.person, { path, title: fields.get('title') ?? '' })
  return { see: path, receipt: { saved: path } }
}

/** Back to the search, if it is one. */
const searchPath = (path: string): string =>
  /^\/mail\/(?:[^/?#\\]+\/)?search(?:\?|$)/.test(path) ? path : '/mail/search'
