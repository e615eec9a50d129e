/** Promises about settings, the log and the key that Parley signs with. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const settings = [
  { id: 'serve.config.people', spec: 'DECISIONS all 19', says: 'The .env of ~/.parley counts for serve, every command and bus; that of the working folder for none.' },
  { id: 'serve.config.strangers', spec: 'DECISIONS all 19', says: 'An unknown name in .env, or a variable nearly named like a setting, is a warning with the nearest name.' },
  { id: 'cli.store.none', spec: 'DECISIONS all 19', says: 'A command for people makes no store: where there is none, it says so and ends with exit code 1.' },
  { id: 'serve.secret.weak', spec: 'DECISIONS post 10', says: 'A signing key or operator\'s token that is short, plain or an example is refused, and so is such a secret.key.' },
  { id: 'serve.secret.readable', spec: 'DECISIONS post 10', says: 'A secret.key that others may read is warned of.' },
  { id: 'serve.log.requests', spec: 'DECISIONS mail 29', says: 'With HTTP_REQUEST_LOG_ENABLED each request is a line at level info, without a secret that its path may hold.' },
  { id: 'serve.log.rich', spec: 'DECISIONS mail 29', says: 'On a terminal LOG_RICH_ENABLED decides between colours and one plain line for each entry.' },
  { id: 'serve.log.trace', spec: 'DECISIONS mail 29', says: 'With LOG_INCLUDE_TRACE entries of level trace are logged, whatever LOG_LEVEL says.' },
  { id: 'serve.log.statements', spec: 'DECISIONS mail 29', says: 'With DATABASE_ECHO each SQL statement is logged at level debug, without its values.' },
] as const satisfies readonly Requirement[]
