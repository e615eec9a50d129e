/** Settings of the archive: Git repositories with everything that people may want to read. */
import { flag, text } from './kinds.ts'

export const archiveSettings = {
  ARCHIVE_ENABLED: flag(true).says(
    'Whether `parley serve` keeps a Git repository for each project in `projects` in STORAGE_ROOT, with messages, agents and file reservations as files. Needs `git`; without it a warning is logged and everything else works.',
  ),
  GIT_AUTHOR_NAME: text('mcp-agent').says('Author name of the commits in the archive.'),
  GIT_AUTHOR_EMAIL: text('mcp-agent@example.com').says('Author email of the commits in the archive.'),
}
