/** The tables of all doors, for tests that walk them. */
import type { z } from 'zod'
import type { Hub } from '../../src/core/hub/hub.ts'
import { busDoor } from '../../src/doors/bus/door.ts'
import { hubDoor } from '../../src/doors/hub/door.ts'
import type { About } from '../../src/doors/mail/about.ts'
import { mailDoor } from '../../src/doors/mail/door.ts'
import { mailboxDoor } from '../../src/doors/mailbox/door.ts'

export type Json = Record<string, unknown>

export interface Row {
  readonly name: string
  readonly input: z.ZodObject
  readonly output?: z.ZodType
  readonly wrapped?: boolean
  accept?(args: Json): Json
}

/** Nothing of a row is run: it is only looked at. */
const nowhere = {} as unknown as Hub
const about = { http: {} } as unknown as About

export const mailRows = mailDoor(nowhere, about).tools as readonly Row[]
export const allRows: readonly Row[] = [
  ...mailRows,
  ...(mailboxDoor(nowhere).tools as readonly Row[]),
  ...(busDoor(nowhere, '1').tools as readonly Row[]),
  ...(hubDoor(nowhere).tools as readonly Row[]),
]

/** The properties of a JSON schema. */
export const propertiesOf = (schema: unknown) =>
  ((schema as Json | undefined)?.properties ?? {}) as Record<string, Json>
