/** Promises about the guard: the pre-commit hook that keeps commits off reserved files. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const guard = [
  { id: 'mail.guard.tools', spec: 'mail API install_precommit_guard', says: 'install_precommit_guard and uninstall_precommit_guard put the guard into a repository and take it away.' },
  { id: 'mail.guard.callers', spec: 'DECISIONS mail 11', says: 'Guards are installed and removed for local callers and the operator only.' },
  { id: 'mail.guard.stops', spec: 'mail File Reservations', says: "A commit of files under another agent's active exclusive lease is stopped, any other is made." },
  { id: 'mail.guard.older-first', spec: 'DECISIONS mail 7', says: 'Where exclusive leases of two agents are on one file, the holder of the older one may commit it.' },
  { id: 'mail.guard.tells', spec: 'mail File Reservations', says: 'The guard says who holds which pattern until when and why, and how to go on.' },
  { id: 'mail.guard.person', spec: 'mail File Reservations', says: 'Without AGENT_NAME every lease stops a commit, unless PARLEY_GUARD=warn; PARLEY_GUARD=off skips with a line.' },
  { id: 'mail.guard.places', spec: 'mail File Reservations', says: 'The guard works in worktrees, submodules, with core.hooksPath, and where a project is a part of a repository.' },
  { id: 'mail.guard.chains', spec: 'mail File Reservations', says: 'A hook that is there goes on running, also those of husky and lefthook, and can still stop the commit.' },
  { id: 'mail.guard.restores', spec: 'mail File Reservations', says: 'Uninstalling leaves the hook as it was, to the byte, with its mode; installing twice changes nothing.' },
  { id: 'mail.guard.names', spec: 'mail File Reservations', says: 'Any file name is checked: with spaces, quotes, newlines, Unicode; and ten thousand of them at once.' },
  { id: 'mail.guard.away', spec: 'mail File Reservations', says: 'Where the store cannot be reached, or Parley is gone, the commit passes with a warning.' },
  { id: 'mail.guard.secrets', spec: 'DECISIONS all 19', says: 'The hook carries no token or password, and the guard reads no .env of the repository.' },
  { id: 'mail.guard.matches', spec: 'DECISIONS mail 7', says: 'A staged path is under a pattern exactly when the pattern overlaps it.' },
  { id: 'cli.guard.commands', spec: 'mail CLI Commands', says: 'guard install, uninstall, status and check do what they say; exit code 1 means not guarded, or stopped.' },
] as const satisfies readonly Requirement[]
