/** A resource of the mail door whose parameters are checked by a schema before it is read. */

import type { z } from 'zod'
import type { CallContext, Own, Resource } from '../mcp/table.ts'
import { readParameters } from '../words/parameters.ts'
import type { MailScope } from './scope.ts'

interface Row<Schema extends z.ZodObject> {
  readonly uri: string
  readonly name: string
  readonly description: string
  readonly own?: Own
  readonly params: Schema
  read(params: z.output<Schema>, context: CallContext<MailScope>): Promise<unknown>
}

export function defineResource<Schema extends z.ZodObject>(row: Row<Schema>): Resource<MailScope> {
  const { uri, name, description, own, params: schema } = row
  const said = { uri, name, description, ...(own && { own }) }
  return { ...said, read: (params, context) => row.read(readParameters(schema, params), context) }
}
