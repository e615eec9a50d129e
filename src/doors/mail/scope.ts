/** The scope of the mail door: the tools that its URL asks for. */
import { HubError } from '../../base/errors.ts'

export const offers = ['all', 'core', 'macros'] as const

export interface MailScope {
  readonly tools: (typeof offers)[number]
}

/** `/mcp?tools=core` and `?tools=macros` keep the list of tools short. */
export function mailScope(_params: Record<string, string>, query: Record<string, unknown>) {
  const tools = offers.find((offer) => offer === (query.tools ?? 'all'))
  if (tools === undefined)
    throw new HubError('INVALID_ARGUMENT', 'The query parameter "tools" must be all, core or macros.', {
      hint: 'Leave ?tools= out to be offered every tool.',
    })
  return { scope: { tools }, key: tools }
}
