/** Settings of agents and their projects: names, whether mail may create an agent, whose project a worktree is, and when one is stuck. */
import { flag, matching, oneOf, optional, seconds } from './kinds.ts'

export const agentSettings = {
  AGENT_NAME_ENFORCEMENT_MODE: oneOf(['strict', 'coerce', 'always_auto'], 'coerce').says(
    'Rule for a name given to register_agent that is not two capitalised words (`GreenCastle`): `strict` refuses it, `coerce` generates another, `always_auto` generates every name.',
  ),
  MESSAGING_AUTO_REGISTER_RECIPIENTS: flag(true).says(
    'Whether mail to an unknown name creates the agent of that name.',
  ),
  PROJECT_PER_WORKTREE: flag(false).says(
    'Whether each git worktree is a project of its own. By default a local caller in a worktree works in the project of the main checkout.',
  ),
  STUCK_AFTER_SECONDS: seconds(900).says(
    'Seconds of silence after which the pages show an agent that others wait for as stuck.',
  ),
  PARLEY_API_KEY: optional(matching(/^amb_[0-9a-f]{64}$/, 'must be a key: amb_ and 64 hexadecimal digits')).secret(
    'Key of the agent that `parley bus` and the commands act as. Without it they act as agents that have no key.',
  ),
}
