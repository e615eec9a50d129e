/** Settings of waking: how often an idle agent is told of a message. */
import { seconds } from './kinds.ts'

export const wakingSettings = {
  WAKE_CONFIRM_SECONDS: seconds(30).says(
    'Seconds after which a message is announced again, if no turn of the agent has confirmed that it was told; three times at most.',
  ),
  WAKE_REMIND_SECONDS: seconds(900).says(
    'Seconds after which an agent that was told of a message and has not read it is told once more, when its next turn begins.',
  ),
}
