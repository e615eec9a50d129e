/** Settings of the installation itself: its name, and the file that holds its settings. */
import { optional, parsed, serverUrl, text } from './kinds.ts'

export const installationSettings = {
  APP_ENVIRONMENT: text('development').says(
    'Name of this installation, such as development or production, as health_check shows it.',
  ),
  PARLEY_ENV_FILE: optional().says(
    'File that holds settings, one NAME=value a line. The environment wins over it; it wins over `.env` of a checkout that Parley runs from, and that over `~/.parley/.env`. The `.env` of the working folder is never read.',
  ),
  PARLEY_SERVER: parsed('', (raw) => (raw === '' ? undefined : serverUrl(raw))).says(
    "Parley server that people's commands (`parley inbox`, `send`, `watch` and the like) ask by HTTP instead of the store on this machine, and that `parley connect` is the front of: `host:port`, or a URL. The operator's token of this machine is sent there. `--server` overrides it. Empty means the store.",
  ),
  BRIDGE_CONFIG: optional().says(
    'JSON file that names other MCP servers whose tools the hub door offers to agents that hold a grant: docs/remote-tools.md. Empty means none.',
  ),
}
