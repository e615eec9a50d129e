/** The paths, errors and example ids that several routes about messages share. */
import { z } from 'zod'
import { uuid } from '../fields.ts'

export const aSession = '019c8a52-1f00-7000-8000-0242ac120002'
export const aMessage = '019c8a52-2a10-7000-8000-0242ac120003'

export const ofSession = z.object({ session_id: uuid })
export const noSession = {
  THREAD_NOT_FOUND: 'There is no such session.',
  FORBIDDEN: 'The session belongs to other agents.',
}
