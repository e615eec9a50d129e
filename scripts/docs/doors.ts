/** Every MCP door with its table, and where it is served: nothing is called, and nothing runs. */
import { version } from '../../src/app/version.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { busDoor } from '../../src/doors/bus/door.ts'
import { busPath } from '../../src/doors/bus/holder.ts'
import { hubDoor } from '../../src/doors/hub/door.ts'
import { hubPath } from '../../src/doors/hub/scope.ts'
import type { About } from '../../src/doors/mail/about.ts'
import { offers } from '../../src/doors/mail/clusters.ts'
import { mailDoor } from '../../src/doors/mail/door.ts'
import { mailboxDoor, mailboxPath } from '../../src/doors/mailbox/door.ts'
import { type MailboxClient, mailboxClientDoor } from '../../src/doors/mailbox-client/door.ts'
import type { AnyDoor } from '../surface/statements.ts'
import type { ServedDoor } from './tools.ts'

// A table only needs its hub when a tool runs.
const noHub = {} as Hub
const noServer = {} as About
const noClient = {} as MailboxClient
const pathOf = (route: string) => route.replace(/:(\w+)/g, '{$1}')

export const servedDoors: readonly (ServedDoor & { readonly door: AnyDoor })[] = [
  { door: mailboxDoor(noHub), url: pathOf(mailboxPath) },
  { door: mailDoor(noHub, noServer), url: '/mcp', shortLists: offers },
  { door: busDoor(noHub, version), url: `${busPath}?agent={name}` },
  { door: hubDoor(noHub), url: `${hubPath}?agent={name}` },
  { door: mailboxClientDoor(noClient), command: 'parley mailbox' },
]
