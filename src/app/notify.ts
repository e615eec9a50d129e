/** Tells systemd that the server is ready or stops, where a unit of Type=notify has started it. */
import { execFile } from 'node:child_process'
import type { Log } from '../base/log.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** By its own program: Node has no Unix datagrams. The unit says NotifyAccess=all, because another process speaks. */
export function notifySystemd(env: Environment, state: '--ready' | '--stopping', log: Log): void {
  const { NOTIFY_SOCKET, PATH } = env
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return
  execFile('systemd-notify', [state], { env: { NOTIFY_SOCKET, PATH } }, (error) => {
    if (error) log.warn({ err: error }, 'systemd was not told: systemd-notify failed')
  })
}
