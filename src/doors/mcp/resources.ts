/** `resources/read`: the first resource whose URI or template matches. */
import { ResourceNotFoundError } from '@modelcontextprotocol/server'
import { HubError } from '../../base/errors.ts'
import type { Json } from './json.ts'
import { type Incoming, invalid } from './methods.ts'
import type { Service } from './service.ts'

export async function readResource<Scope>(
  service: Service<Scope>,
  { params, exchange }: Incoming<Scope>,
): Promise<Json> {
  const { uri } = params
  if (typeof uri !== 'string') throw invalid('resources/read needs a uri.')
  for (const { resource, template } of service.resources) {
    const values = template.match(uri)
    if (values === undefined) continue
    const value = await resource.read(values, exchange).catch((error: unknown) => {
      if (error instanceof HubError && error.kind === 'not_found') throw new ResourceNotFoundError(uri, error.message)
      throw error
    })
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(value) }] }
  }
  throw new ResourceNotFoundError(uri)
}
