/** Settings of agents: their names, and whether mail may create one. */
import { flag, oneOf, optional, setting } from './kinds.ts'

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
  PARLEY_API_KEY: setting({
    default: '',
    says: 'Key of the agent as which `parley bus` and the commands act. Without it they act as agents that have no key.',
    secret: true,
    parse: (raw) => {
      if (raw !== '' && !/^amb_[0-9a-f]{64}$/.test(raw))
        throw new Error('must be a key: amb_ and 64 hexadecimal digits')
      return optional(raw)
    },
  }),
} as const
