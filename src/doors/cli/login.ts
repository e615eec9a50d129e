/** `parley login`: a code to log in at the pages with, for whoever can read the storage folder and has no token (web.login.code). */
import type { Command } from 'commander'
import { makeCode } from '../http/login-codes.ts'
import { examples, newCommand, type Open, withHub } from './commands.ts'
import { harmlessJson } from './harmless.ts'
import type { Screen } from './screen.ts'

export const loginCommand = (open: Open, secret: () => string, screen: Screen): Command =>
  newCommand('login', screen)
    .description('print a code for the login of the pages; good once, for five minutes')
    .option('--json', 'answer with JSON, for programs')
    .addHelpText('after', examples('login'))
    .action(({ json = false }: { json?: boolean }) =>
      withHub(open, screen, async ({ clock, ids }) => {
        const code = makeCode(secret(), { now: clock.now(), nonce: ids.token() })
        if (json) return screen.out(`${harmlessJson({ code })}\n`)
        await screen.note('Paste it at /mail/login of the running server. It is good once, for five minutes.')
        await screen.out(`${code}\n`)
      }),
    )
