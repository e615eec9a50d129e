/** Promises about the archive: Git repositories in which people read what agents wrote. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const archive = [
  { id: 'mail.archive.layout', spec: 'mail.md On-disk layout', says: 'Profiles, messages, inbox and outbox copies, digests and reservations are files at their places.' },
  { id: 'mail.archive.message', spec: 'mail.md Message file format', says: 'A message file has its JSON frontmatter, with the subject, and then the body as it was sent.' },
  { id: 'mail.archive.bcc', spec: 'DECISIONS mail 6', says: 'A blind copy is in the sender’s outbox copy and its own inbox copy only, and in no commit’s message.' },
  { id: 'mail.archive.files', spec: 'DECISIONS mail 11', says: 'The commit of a mail has its stored files, each once, beside every copy of the mail.' },
  { id: 'mail.archive.listed', spec: 'mail.md Message file format', says: 'The frontmatter lists the attachments; an inline image stands in the body, else in the list.' },
  { id: 'mail.archive.blind-files', spec: 'DECISIONS mail 6', says: 'The file of a blind copy is in its recipient’s archive, and no other archive tells of it.' },
  { id: 'mail.archive.commits', spec: 'DECISIONS mail 12', says: 'A mail is one commit by GIT_AUTHOR_NAME; subjects read like a diary.' },
  { id: 'mail.archive.sound', spec: 'DECISIONS mail 12', says: '`git fsck` is clean always, `git status` when the archive is idle.' },
  { id: 'mail.archive.digest', spec: 'DECISIONS mail 12', says: 'A thread has a digest that grows at its end, and goes on in `<thread>.2.md`.' },
  { id: 'mail.archive.names', spec: 'DECISIONS mail 12', says: 'Names that are no plain file name, or differ only in case, are percent-encoded.' },
  { id: 'mail.archive.across', spec: 'DECISIONS mail 12', says: 'Across projects the canonical file is in the sender’s archive, the inbox copy in the recipient’s.' },
  { id: 'mail.archive.doors', spec: 'DESIGN The doors', says: 'Messages of the other doors and topics are archived under their project.' },
  { id: 'mail.archive.deleted', spec: 'DECISIONS mail 12', says: 'A deleted topic leaves the tree by a commit.' },
  { id: 'mail.archive.taken-over', spec: 'DESIGN One write', says: 'Of several servers one archives; another goes on when it dies, at once on the same machine.' },
  { id: 'mail.archive.own-disk', spec: 'DESIGN Layers', says: 'A server with a storage folder of its own makes an archive of its own.' },
  { id: 'mail.archive.no-git', spec: 'DESIGN The stack', says: 'Without git mail works, and one warning says what is missing.' },
  { id: 'mail.archive.serve-only', spec: 'DESIGN The doors', says: '`parley serve` archives, `parley bus` does not.' },
  { id: 'mail.mailbox.commits', spec: 'DECISIONS mail 12', says: 'resource://mailbox names the commit of each message, mailbox-with-commits tells what it says.' },
  { id: 'mail.whois.commits', spec: 'DECISIONS mail 12', says: 'whois tells of the latest commits of an agent, as far as the caller may see what they are about.' },
  { id: 'mail.archive.blind-commits', spec: 'DECISIONS mail 12', says: 'No commit is shown because of somebody’s blind copy.' },
  { id: 'mail.tooling.archiver', spec: 'mail.md Resources', says: 'resource://tooling/locks shows which process archives.' },
  { id: 'mail.lease.inbox', spec: 'DECISIONS mail 8', says: 'An exclusive lease of another on an inbox in the archive blocks mail to it; one on code never does.' },
  { id: 'mail.archive.rebuilt', spec: 'DECISIONS mail 12', says: 'A rebuild from the tables gives the same files as following the feed.' },
  { id: 'mail.archive.gap', spec: 'DESIGN One write', says: 'An archive without a watermark is made anew; one with a foreign commit goes on behind it.' },
  { id: 'cli.archive.verify', spec: 'DECISIONS mail 12', says: '`archive verify` finds a missing file, a changed byte, a foreign commit, a lost object: exit code 1.' },
  { id: 'cli.archive.rebuild', spec: 'DECISIONS mail 12', says: '`archive rebuild` mends each of them, also beside a running server.' },
  { id: 'cli.archive.files', spec: 'DECISIONS mail 12', says: '`archive verify` compares attachments too, `archive rebuild` restores them.' },
  { id: 'mail.archive.killed', spec: 'DESIGN One write', says: 'After kill -9 at any moment the archive is whole soon after the next start, each mail once.' },
] as const satisfies readonly Requirement[]
