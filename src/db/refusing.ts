/** A database that answers everything with one error: what a program works on that may not touch the real one. */
import type { HubError } from '../base/errors.ts'
import type { Db } from './port.ts'

export const refusingDb = (error: HubError): Db => ({
  dialect: 'sqlite',
  all: () => Promise.reject(error),
  tx: () => Promise.reject(error),
  listen: async () => async () => {},
  announce() {},
  async close() {},
})
