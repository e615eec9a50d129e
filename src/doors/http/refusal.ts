/** Refusals with a status of HTTP's own, which no kind of error has. */
import type { IncomingMessage } from 'node:http'
import { HubError, kinds } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'

export class HttpRefusal extends HubError {
  readonly status: number

  constructor(status: number, message: string) {
    super('INVALID_ARGUMENT', message)
    this.status = status
  }
}

export const statusOf = (error: HubError): number =>
  error instanceof HttpRefusal ? error.status : kinds[error.kind].status

/** Fastify's own refusals (a body too large, a wrong content type) keep their status. */
export function fromFastify(thrown: unknown): HttpRefusal | undefined {
  if (thrown instanceof HubError || !(thrown instanceof Error) || !('statusCode' in thrown)) return undefined
  const { statusCode, message } = thrown
  return typeof statusCode === 'number' && statusCode < 500 ? new HttpRefusal(statusCode, message) : undefined
}

/** A busy hub says when to try again: a pause of the database may be over by then (serve.store.exhausted). */
export const retryHeader = (status: number): { 'retry-after'?: string } =>
  status === kinds.busy.status ? { 'retry-after': '2' } : {}

/** Throws for requests that no route takes (all.size.uri, all.http.encoding). */
export function checkForm({ url = '', headers }: IncomingMessage): void {
  if (url.length > limits.uriLength)
    throw new HttpRefusal(414, `The URI of a request has at most ${limits.uriLength} characters.`)
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new HttpRefusal(415, 'A request body must not have a content encoding.')
}

/** Whether the client went away before its request was complete: nobody reads an answer, and nothing went wrong here. */
export const isCutOff = ({ complete, destroyed }: IncomingMessage): boolean => destroyed && !complete
