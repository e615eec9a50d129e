/** The steps by which the search index is filled, as the units of a module: they may run in another thread (`Db.apart`). */
import type { Tx } from '../db/port.ts'
import { indexNext, mergeNext, resetNext } from './search.ts'

/** `resetFrom`: where the last step of a reset ended. */
export type Step = 'index' | 'merge' | { readonly resetFrom: number }

/** Whether it found something to do; of a reset, where it ended. */
export async function work(tx: Tx, step: Step): Promise<boolean | number | undefined> {
  if (step === 'index') return indexNext(tx)
  return step === 'merge' ? mergeNext(tx) : resetNext(tx, step.resetFrom)
}
