/** Settings of the installation itself: its name, and the file that holds its settings. */
import { setting, text } from './kinds.ts'

export const installationSettings = {
  APP_ENVIRONMENT: setting({
    default: 'development',
    says: 'The name of this installation, as health_check shows it, such as development or production.',
    parse: text,
  }),
  PARLEY_ENV_FILE: setting({
    default: '.env',
    says: 'A file with settings; the environment wins over it. Only `serve` looks for `.env` in the working folder by itself.',
    parse: text,
  }),
} as const
