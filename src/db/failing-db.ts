/** A database that answers everything with one error: what a program works on that may not touch the real one. */
import type { HubError } from '../base/errors.ts'
import type { Db, Reader } from './port.ts'

/** On PostgreSQL wake-ups come by themselves: nobody asks first how far the feed of changes goes. */
const refusing = (error: HubError): Reader => ({ dialect: 'postgres', all: () => Promise.reject(error) })

export const refusingDb = (error: HubError): Db => ({
  ...refusing(error),
  long: refusing(error),
  tx: () => Promise.reject(error),
  snapshot: () => Promise.reject(error),
  listen: async () => async () => {},
  announce() {},
  check: () => Promise.reject(error),
  async close() {},
})
