/** A test that stands for promises of test/requirements.ts: `verifies('mailbox.pop.fifo', 'a sentence', async () => { … })`. */
import { type TestFunction, test } from 'vitest'
import { type RequirementId, requirements } from '../requirements.ts'

declare module 'vitest' {
  interface TaskMeta {
    verifies?: readonly string[]
  }
}

const known: ReadonlySet<string> = new Set(requirements.map(({ id }) => id))

/** Throws on an unknown id, so that a typo cannot lose a promise. The reporter reads the ids of tests that passed. */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  title: string,
  fn: TestFunction,
  timeout?: number,
): void {
  const list = typeof ids === 'string' ? [ids] : ids
  const unknown = list.filter((id) => !known.has(id))
  if (unknown.length > 0) throw new Error(`test/requirements.ts has no ${unknown.join(', ')}`)
  test(title, { meta: { verifies: list }, ...(timeout !== undefined && { timeout }) }, fn)
}
