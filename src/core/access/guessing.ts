/** Guesses at a secret: the wrong ones are counted in the store, for all processes, before anybody is told that one was wrong. */
import { HubError } from '../../base/errors.ts'
import type { Tx } from '../../db/port.ts'
import { deleteOldGuesses, lockGuesses, type Times, updateGuesses } from '../../store/agents/guesses.ts'
import { runInTurn } from '../hub/batching.ts'
import { type Actor, commit, type Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'

export interface Guessing {
  /** The guesser and the kind of secret: the key of the count. */
  readonly guesser: string
  /** Wrong guesses within a minute; after that even a right one is refused. */
  readonly most: number
  /** The refusal, for example `alice has named 10 wrong codes within a minute.`, and the next step. */
  readonly tooMany: { readonly message: string; readonly hint: string }
}

/** The outcome of a guess: the error of a wrong one is thrown once the guess is counted. */
export type Guessed<T> = { readonly right: T } | { readonly wrong: HubError }

const windowMs = 60_000

/** Above this many times the newest stands for several guesses. They are then forgotten late, never early. */
const mostTimes = 100

/**
 * Each guess that is looked at costs a commit, and guessers may be as many as there are addresses. Of one kind of secret a process
 * looks at so many at once, and at so many a second after that; the others are refused, and counted by their guesser's next one.
 */
const [mostAtOnce, mostASecond] = [500, 50]

interface Budget {
  left: number
  at: number
}

const budgets = memory(() => new Map<string, Budget>())

/** Wrong guesses of a guesser that are not in the store yet. */
const owed = memory(() => new Map<string, number>())

/** Whether the budget of its kind has room for one more. */
function takeFromBudget(hub: Hub, guesser: string): boolean {
  const kind = guesser.slice(0, guesser.indexOf(':'))
  const now = hub.clock.monotonic()
  const budget = budgets(hub).get(kind) ?? { left: mostAtOnce, at: now }
  budget.left = Math.min(mostAtOnce, budget.left + ((now - budget.at) * mostASecond) / 1000)
  budget.at = now
  budgets(hub).set(kind, budget)
  if (budget.left < 1) return false
  budget.left--
  return true
}

/** Until when a guesser is refused: a count never shrinks before that, so refusing again needs no look at the store. */
const closed = memory(() => new Map<string, number>())

/**
 * Runs `check` in a transaction in which no other guess of this guesser runs, in any process: of 800 guesses at once as many
 * are looked at as of 800 one after the other. An error that `check` throws is no guess.
 */
export async function guess<T>(
  hub: Hub,
  by: Actor,
  { guesser, most, tooMany }: Guessing,
  check: (tx: Tx, note: Note) => Promise<Guessed<T>>,
): Promise<T> {
  const refuse = (until: number): never => {
    const left = Math.max(1, Math.ceil((until - hub.clock.now()) / 1000))
    throw new HubError('RATE_LIMITED', tooMany.message, { hint: tooMany.hint, retryAfter: left })
  }
  const refuseClosed = () => {
    const known = closed(hub).get(guesser) ?? 0
    if (isAhead(known, hub.clock.now())) refuse(known)
  }
  refuseClosed()
  const work = async (tx: Tx, note: Note): Promise<Guessed<T> | { readonly until: number }> => {
    const now = hub.clock.now()
    const added = owed(hub).get(guesser) ?? 0
    const before = (await lockGuesses(tx, guesser)).filter(([at]) => isAhead(at + windowMs, now))
    const [first] = before
    if (first !== undefined && countOf(before) >= most) return { until: first[0] + windowMs }
    const guessed = await check(tx, note)
    if ('wrong' in guessed) {
      await updateGuesses(tx, guesser, withMore(before, now, 1 + added), now + windowMs)
      await deleteOldGuesses(tx, now)
    }
    return guessed
  }
  const verdict = await runInTurn(hub, [`guess:${guesser}`], async () => {
    refuseClosed()
    if (!takeFromBudget(hub, guesser)) {
      remember(owed(hub), guesser, (owed(hub).get(guesser) ?? 0) + 1)
      refuse(hub.clock.now())
    }
    const verdict = await commit(hub, by, work)
    if ('wrong' in verdict) owed(hub).delete(guesser)
    return verdict
  })
  if ('until' in verdict) return refuse(remember(closed(hub), guesser, verdict.until))
  if ('wrong' in verdict) throw verdict.wrong
  return verdict.right
}

/** The clocks of nodes differ by seconds; a time that is further ahead was written before a clock was set back. */
const isAhead = (end: number, now: number): boolean => end > now && end <= now + 2 * windowMs

const countOf = (times: Times): number => times.reduce((sum, [, count]) => sum + count, 0)

function withMore(times: Times, now: number, count: number): Times {
  const last = times.at(-1)
  if (last === undefined || times.length < mostTimes) return [...times, [now, count]]
  return [...times.slice(0, -1), [now, last[1] + count]]
}
