/** Promises about the archive: Git repositories in which people read what agents wrote. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const archive = [
  { id: 'mail.archive.layout', spec: 'mail.md On-disk layout', says: 'Profiles, messages, inbox and outbox copies, digests and reservations are files at their places.' },
  { id: 'mail.archive.message', spec: 'mail.md Message file format', says: 'A message file has its JSON frontmatter, with the subject, and then the body as it was sent.' },
  { id: 'mail.archive.bcc', spec: 'DECISIONS mail 6', says: 'A blind copy is in the sender’s outbox copy and its own inbox copy only, and in no commit’s message.' },
  { id: 'mail.archive.commits', spec: 'DECISIONS mail 12', says: 'A mail is one commit by GIT_AUTHOR_NAME; subjects read like a diary.' },
  { id: 'mail.archive.sound', spec: 'DECISIONS mail 12', says: '`git fsck` is clean always, `git status` when the archive is idle.' },
  { id: 'mail.archive.killed', spec: 'DESIGN One write', says: 'After kill -9 at any moment the archive is whole soon after the next start, each mail once.' },
] as const satisfies readonly Requirement[]
