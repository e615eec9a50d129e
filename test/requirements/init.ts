/** Promises about `parley init`, which sets up the clients of this machine. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const init = [
  { id: 'cli.init.entry', spec: 'DESIGN Callers', says: 'init writes the server into each client\'s settings, with agent and project as that client can carry them.' },
  { id: 'cli.init.scope', spec: 'DESIGN Callers', says: 'In a repository init writes files of this machine alone, which git passes over; --user is for all folders.' },
  { id: 'cli.init.finds', spec: 'DESIGN Callers', says: 'Without names init sets up the clients it finds, and names those that have user files alone.' },
  { id: 'cli.init.text', spec: 'DESIGN Callers', says: 'Comments, order, indentation, ends of lines, byte order marks and unknown keys of a settings file stay.' },
  { id: 'cli.init.dry-run', spec: 'DESIGN Callers', says: 'init --dry-run prints a unified diff and touches nothing.' },
  { id: 'cli.init.twice', spec: 'DESIGN Callers', says: 'init twice is init once; other options change what init wrote and nothing else.' },
  { id: 'cli.init.uninstall', spec: 'DESIGN Callers', says: 'init --uninstall gives the same bytes and modes as before; files that init made and backups are removed.' },
  { id: 'cli.init.between', spec: 'DESIGN Callers', says: 'An edit that a person made after init is still there after another init and after --uninstall.' },
  { id: 'cli.init.backup', spec: 'DESIGN Callers', says: 'init keeps a backup beside each file it changes, replaces files by rename, and keeps their modes.' },
  { id: 'cli.init.left', spec: 'DESIGN Errors', says: 'Files that are broken, read-only or have a foreign entry "parley" are left alone with a reason; exit code 1.' },
  { id: 'cli.init.symlinks', spec: 'DESIGN Callers', says: 'init follows a symlink within the home folder and the repository, and refuses one that leads elsewhere.' },
  { id: 'cli.init.secret', spec: 'DESIGN Callers', says: 'No key or token stands in a settings file: where a key is stored, the client starts parley connect.' },
  { id: 'cli.init.allow', spec: 'DESIGN Callers', says: 'init allows Parley\'s tools in a client with --allow alone, and takes that out without it.' },
  { id: 'cli.init.block', spec: 'mail.md CLI', says: 'init puts one marked block about mail into AGENTS.md, CLAUDE.md or GEMINI.md, once for files that are one.' },
  { id: 'cli.init.docs', spec: 'DESIGN Callers', says: 'README and docs show the settings of the same table that init writes from.' },
  { id: 'cli.init.hooks', spec: 'DECISIONS all 9', says: 'init writes the hooks of Claude Code, Codex, Gemini CLI and OpenCode beside the server; --no-hooks does not.' },
  { id: 'cli.init.hooks-foreign', spec: 'DECISIONS all 9', says: 'Hooks of others in the same event, and the trust that Codex notes, stay through init and uninstall.' },
  { id: 'cli.init.hooks-key', spec: 'DECISIONS all 9', says: 'Where a key is needed hooks are lines of curl that read it from a file of mode 600, gone after uninstall.' },
  { id: 'cli.join.init', spec: 'DESIGN Callers', says: 'parley join sets up the clients that it finds, with the key left in its own file.' },
  { id: 'cli.status.clients', spec: 'DESIGN The doors', says: 'parley status names the clients that init has set up, as long as their settings have the server.' },
] as const satisfies readonly Requirement[]
