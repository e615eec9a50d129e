/** The proof that a message was lent, as its bearer has it. */
import { hash } from 'node:crypto'

const checkLength = 8

/**
 * The proof of a loan as its bearer has it: the hold, and a check that tells a loan that has passed on from one that was never
 * given. It needs no key: only the hold that is stored takes anything.
 */
export const loanOf = (deliveryId: number, hold: string): string =>
  hold + hash('sha256', `${deliveryId} ${hold}`, 'base64url').slice(0, checkLength)

export const isLoanOf = (deliveryId: number, loan: string): boolean =>
  loanOf(deliveryId, loan.slice(0, -checkLength)) === loan
