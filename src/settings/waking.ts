/** Settings of waking: how often an idle agent is told of a message. */
import { number, seconds } from './kinds.ts'

export const wakingSettings = {
  WAKE_CONFIRM_SECONDS: seconds(30).says(
    'Seconds after which a message is announced again, if no turn of the agent has confirmed that it was told; three times at most.',
  ),
  WAKE_REMIND_SECONDS: seconds(900).says(
    'Seconds after which an agent that was told of a message and has not read it is told once more, when its next turn begins.',
  ),
  LOOP_MAX_TURNS: number(30, { min: 1, max: 10_000 }).says(
    'Messages in a row of a thread, each written by an agent that was woken, after which nobody is woken for the thread any more until a person writes into it.',
  ),
  LOOP_MAX_PAIR_PER_HOUR: number(120, { min: 1, max: 100_000 }).says(
    'Messages within an hour between two agents, each written by an agent that was woken, after which the two are not woken for each other any more until a person resumes it.',
  ),
}
