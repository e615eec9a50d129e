/** Settings of agents: their names, and whether mail may create one. */
import { flag, oneOf, setting } from './kinds.ts'

export const agentSettings = {
  AGENT_NAME_ENFORCEMENT_MODE: setting({
    default: 'coerce',
    says: 'Treatment of a name given to register_agent that is not two capitalised words (`GreenCastle`): `strict` refuses it, `coerce` generates another, `always_auto` generates every name.',
    parse: oneOf('strict', 'coerce', 'always_auto'),
  }),
  MESSAGING_AUTO_REGISTER_RECIPIENTS: setting({
    default: 'true',
    says: 'Whether mail to an unknown name creates the agent of that name.',
    parse: flag,
  }),
} as const
