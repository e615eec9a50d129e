/** BRIDGE_CONFIG → the servers of others whose tools the hub offers. */
import { systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { RemoteTools } from '../remote-tools/remote-tools.ts'
import type { Config } from '../settings/all.ts'
import { ConfigError } from '../settings/read.ts'
import { version } from './version.ts'

/** Nothing of it is loaded where no file is named. */
export async function openRemoteToolsOf({ BRIDGE_CONFIG: path }: Config, log: Log): Promise<RemoteTools | undefined> {
  if (path === undefined) return undefined
  const [{ openRemoteTools }, { readServersFile }] = await Promise.all([
    import('../remote-tools/remote-tools.ts'),
    import('../remote-tools/config.ts'),
  ])
  try {
    return openRemoteTools(readServersFile(path), { version, clock: systemClock, log })
  } catch (error) {
    throw new ConfigError(
      `Parley cannot start with these settings:\n  - BRIDGE_CONFIG names ${JSON.stringify(path)}, which ${(error as Error).message}`,
    )
  }
}
