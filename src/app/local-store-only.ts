/** Commands that work in the store of this machine, where PARLEY_SERVER names another place. */
import { HubError } from '../base/errors.ts'
import type { Open } from '../doors/cli/commands.ts'
import type { Config } from '../settings/all.ts'
import { listRunning } from './running.ts'

/** The server of PARLEY_SERVER, where it is none that runs on the store here. */
export const serverElsewhere = ({ PARLEY_SERVER: server, STORAGE_ROOT }: Config): string | undefined =>
  listRunning(STORAGE_ROOT).some(({ url }) => url === server) ? undefined : server

/** A person who set PARLEY_SERVER means that server: to list, or delete, topics of another store would be a surprise. */
export const besideStore = (open: Open, config: () => Config): Open =>
  Object.assign(async () => {
    const server = serverElsewhere(config())
    if (server !== undefined)
      throw new HubError('INVALID_ARGUMENT', `PARLEY_SERVER is ${server}, and this command works in the store here.`, {
        hint: 'Run it on the machine of that server, or without PARLEY_SERVER. By the server: `parley topics create`, `threads`, `read`, `watch`.',
      })
    return open()
  }, open.asWhom && { asWhom: open.asWhom })
