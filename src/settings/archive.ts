/** Settings of the archive: Git repositories with everything that people may want to read. */
import { flag, setting, text } from './kinds.ts'

export const archiveSettings = {
  ARCHIVE_ENABLED: setting({
    default: 'true',
    says: 'Whether `parley serve` keeps a Git repository for each project in `projects` in STORAGE_ROOT, with messages, agents and file reservations as files. Needs `git`; without it a warning is logged and everything else works.',
    parse: flag,
  }),
  GIT_AUTHOR_NAME: setting({
    default: 'mcp-agent',
    says: 'Author name of the commits in the archive.',
    parse: text,
  }),
  GIT_AUTHOR_EMAIL: setting({
    default: 'mcp-agent@example.com',
    says: 'Author email of the commits in the archive.',
    parse: text,
  }),
} as const
