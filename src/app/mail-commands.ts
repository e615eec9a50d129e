/** Commands about mail that nobody has handled yet: starting agents for it, and dead letters. */
import type { PeoplesCommand } from './command-parts.ts'

export const mailCommands: readonly PeoplesCommand[] = [
  {
    name: 'run',
    says: 'start a fresh agent for mail: a command, for each thread that has some',
    load: async ({ around, screen }) => {
      const { runCommand } = await import('../doors/cli/mail/run.ts')
      const { wakerCalling } = await import('./waker-calling.ts')
      const { run } = await import('./run.ts')
      return runCommand(({ agent, server, project, timeout, ...asked }, starting) => {
        const calling = wakerCalling(
          { words: [], options: { agent, server, project }, checkout: around.checkout },
          around.env,
        )
        const timeoutMs = timeout === undefined ? undefined : timeout * 1000
        return run({ ...asked, timeoutMs }, { calling, env: around.env, ...starting })
      }, screen)
    },
  },
  {
    name: 'dead-letters',
    says: 'mail that was handed out too often and never confirmed: list, show, retry, drop',
    load: async ({ open, screen }) =>
      (await import('../doors/cli/mail/dead-letters.ts')).deadLettersCommand(open, screen),
  },
]
