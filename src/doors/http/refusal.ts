/** Refusals that are HTTP's own: their status is not that of a kind of error. */
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

/** Whoever finds the hub busy is told when to come back: by then a pause of the database may be over (serve.store.exhausted). */
export const comeBack = (status: number): { 'retry-after'?: string } =>
  status === kinds.busy.status ? { 'retry-after': '2' } : {}

/** Throws for a request that is refused whatever it asks for (all.size.uri, all.http.encoding). */
export function checkForm({ url = '', headers }: IncomingMessage): void {
  if (url.length > limits.uriLength)
    throw new HttpRefusal(414, `The URI of a request has at most ${limits.uriLength} characters.`)
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new HttpRefusal(415, 'Bodies are taken without a content encoding.')
}

/** Whether its client went away before the request was whole: nobody reads an answer, and nothing went wrong here. */
export const isCutOff = ({ complete, destroyed }: IncomingMessage): boolean => destroyed && !complete
