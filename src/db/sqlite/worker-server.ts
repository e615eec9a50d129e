/** The worker's side of worker-client.ts. */
import { parentPort } from 'node:worker_threads'
import { afterThis } from '../../base/clock.ts'
import type { Answer, Asked } from './worker-client.ts'

/** Short answers go back together, and none waits longer than this for another. */
const heldBackMs = 2

/** Answers questions until it is told to close; whatever `answer` throws is the answer too. */
export function answerQuestions<Question>(
  answer: (question: Asked<Question>) => Promise<unknown>,
  close: () => void | Promise<void> | undefined,
): void {
  let last = Promise.resolve()
  parentPort?.on('message', (questions: Asked<Question>[] | 'close') => {
    if (questions !== 'close') {
      last = last.then(() => answerAll(questions, answer))
      return
    }
    // A close that fails ends the thread with its reason, which the other side is told.
    void last
      .then(close)
      .then(() => parentPort?.close())
      .catch(fail)
  })
}

const fail = (error: unknown): void =>
  afterThis(() => {
    throw error
  })

async function answerAll<Question>(
  questions: readonly Asked<Question>[],
  answer: (question: Asked<Question>) => Promise<unknown>,
): Promise<void> {
  let answers: Answer[] = []
  let since = performance.now()
  for (const question of questions) {
    answers.push(await settled(question, answer))
    if (performance.now() - since < heldBackMs) continue
    parentPort?.postMessage(answers)
    answers = []
    since = performance.now()
  }
  if (answers.length > 0) parentPort?.postMessage(answers)
}

async function settled<Question>(
  question: Asked<Question>,
  answer: (question: Asked<Question>) => Promise<unknown>,
): Promise<Answer> {
  const { id } = question
  try {
    return { id, found: await answer(question) }
  } catch (error) {
    return { id, failed: { message: String((error as Error).message), errcode: errcodeOf(error) } }
  }
}

/** The code of SQLite, also of an error that was made into another. */
function errcodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : errcodeOf(error.cause)
}
