/** The ways in which a call to a server of others fails, as agents read them. */
import { HubError } from '../base/errors.ts'
import { plainText } from './cleaning.ts'

export const unavailable = (server: string): HubError =>
  new HubError('BRIDGE_UNAVAILABLE', `The server ${server} does not answer, or did not understand the call.`, {
    hint: 'Try again later; the operator sees the reason in the log.',
  })

export const timedOut = (server: string, seconds: number): HubError =>
  new HubError('BRIDGE_TIMEOUT', `The server ${server} gave no answer within ${seconds} s.`, {
    hint: 'The server may still have carried out the call: check before you repeat it.',
  })

export const tooLarge = (server: string, bytes: number): HubError =>
  new HubError('BRIDGE_TOO_LARGE', `The answer of ${server} has more than ${bytes} bytes.`, {
    hint: 'Ask for less, with arguments that narrow the answer down.',
  })

/** Its own words stand in quotes: they are data, as everything of it. */
export function failedThere(tool: string, content: readonly object[]): HubError {
  const said = content.flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : [])).join(' ')
  return new HubError(
    'BRIDGE_FAILED',
    `${tool} failed at its server, which says: ${JSON.stringify(plainText(said, 1500))}`,
    {
      hint: 'The error comes from the other server: change the arguments, or ask its operator.',
    },
  )
}

/** The log gets the kind and status of an error. Its text is the other server’s, and may hold anything. */
export function reasonOf(error: unknown): Readonly<Record<string, unknown>> {
  const { name, code, status } = error as { name?: unknown; code?: unknown; status?: unknown }
  return { reason: name, code, ...(typeof status === 'number' && { status }) }
}
