/** Settings of the installation itself: its name, and the file that holds its settings. */
import { optional, setting, text } from './kinds.ts'

export const installationSettings = {
  APP_ENVIRONMENT: setting({
    default: 'development',
    says: 'Name of this installation, such as development or production, as health_check shows it.',
    parse: text,
  }),
  PARLEY_ENV_FILE: setting({
    default: '.env',
    says: 'File that holds settings, one NAME=value a line; the environment wins over it. Without this setting `serve` and the commands that people type read `.env` in the working folder; what other programs start (`bus`, `guard check`) reads no file.',
    parse: text,
  }),
  BRIDGE_CONFIG: setting({
    default: '',
    says: 'JSON file that names other MCP servers whose tools the hub door offers to agents that hold a grant: docs/bridge.md. Empty means none.',
    parse: optional,
  }),
} as const
