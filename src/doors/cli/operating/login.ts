/** `parley login`: a code for the login of the pages, for people with access to the storage folder and no token (web.login.code). */
import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { busNameFault } from '../../../base/names.ts'
import { makeCode } from '../../http/login-codes.ts'
import { newCommand, type Open, outJson, withHub, withJson } from '../commands.ts'
import type { Screen } from '../terminal/screen.ts'

export const loginCommand = (open: Open, secret: () => string, screen: Screen): Command =>
  withJson(
    newCommand('login', screen)
      .description('print a code for the login of the pages; it works once, for five minutes')
      .option('--as <name>', 'the name of the person: shown beside what it sends; what is new is kept for it'),
    'login',
    'login --as Ann',
  ).action(({ json = false, as }: { json?: boolean; as?: string }) =>
    withHub(open, screen, async ({ clock, ids }) => {
      const code = makeCode(secret(), { now: clock.now(), nonce: ids.token(), name: checkedName(as) })
      if (json) return outJson(screen, { code })
      await screen.note('Paste it at /mail/login of the running server. It works once, for five minutes.')
      await screen.out(`${code}\n`)
    }),
  )

function checkedName(name: string | undefined): string | undefined {
  const fault = name === undefined ? undefined : busNameFault(name)
  if (fault !== undefined) throw new HubError('INVALID_ARGUMENT', `The name in --as ${fault}.`)
  return name?.trim()
}
