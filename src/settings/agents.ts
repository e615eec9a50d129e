/** Settings of agents: their names, and whether mail may create one. */
import { flag, oneOf, setting } from './kinds.ts'

export const agentSettings = {
  AGENT_NAME_ENFORCEMENT_MODE: setting({
    default: 'coerce',
    says: 'What register_agent does with a name that is not two capitalised words (`GreenCastle`): `strict` refuses it, `coerce` generates another, `always_auto` generates every name.',
    parse: oneOf('strict', 'coerce', 'always_auto'),
  }),
  MESSAGING_AUTO_REGISTER_RECIPIENTS: setting({
    default: 'true',
    says: 'Whether mail to a name that nobody has yet makes that agent.',
    parse: flag,
  }),
} as const
