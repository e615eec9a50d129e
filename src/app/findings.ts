/** The findings of `parley doctor`, as its checks make them. */
import type { Finding } from '../doors/cli/operating/doctor.ts'

export type Check = AsyncGenerator<Finding> | Generator<Finding>

export const ok = (check: string, says: string): Finding => ({ check, status: 'ok', says })
export const warning = (check: string, says: string, advice: string): Finding => ({
  check,
  status: 'warning',
  says,
  advice,
})
export const fault = (check: string, says: string, advice: string): Finding => ({
  check,
  status: 'fault',
  says,
  advice,
})
