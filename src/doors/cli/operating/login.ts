/** `parley login`: a code for the login of the pages, for people with access to the storage folder and no token (web.login.code). */
import type { Command } from 'commander'
import { makeCode } from '../../http/login-codes.ts'
import { newCommand, type Open, outJson, withHub, withJson } from '../commands.ts'
import type { Screen } from '../terminal/screen.ts'

export const loginCommand = (open: Open, secret: () => string, screen: Screen): Command =>
  withJson(
    newCommand('login', screen).description('print a code for the login of the pages; it works once, for five minutes'),
    'login',
  ).action(({ json = false }: { json?: boolean }) =>
    withHub(open, screen, async ({ clock, ids }) => {
      const code = makeCode(secret(), { now: clock.now(), nonce: ids.token() })
      if (json) return outJson(screen, { code })
      await screen.note('Paste it at /mail/login of the running server. It works once, for five minutes.')
      await screen.out(`${code}\n`)
    }),
  )
