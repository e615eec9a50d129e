/** Promises about the commands that look after a whole store. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const operations = [
  { id: 'cli.backup.whole', spec: 'mail.md CLI', says: 'A backup restored elsewhere has the same rows in every table, on either engine.' },
  { id: 'cli.backup.live', spec: 'mail.md CLI', says: 'A backup made while a server takes messages is of one moment: everything answered before it, nothing half.' },
  { id: 'cli.backup.tables', spec: 'mail.md CLI', says: 'Every table of the database is in the backup, or left out on purpose.' },
  { id: 'cli.backup.archives', spec: 'mail.md CLI', says: 'The Git repositories of the archives, with all attachments, are in the backup and come back with it.' },
  { id: 'cli.backup.file', spec: 'mail.md CLI', says: 'A backup is one file that only its owner reads; none is written over without --force, none is left half.' },
  { id: 'cli.restore.checked', spec: 'mail.md CLI', says: 'A backup that is cut off, changed or of a newer Parley is refused, and nothing is changed.' },
  { id: 'cli.restore.tampered', spec: 'mail.md CLI', says: 'A restore takes objects and refs of repositories alone: nothing runs, nothing is written elsewhere.' },
  { id: 'cli.restore.told', spec: 'mail.md CLI', says: 'Whatever is wrong with a backup, a restore refuses it in a sentence, and changes nothing.' },
  { id: 'cli.restore.careful', spec: 'mail.md CLI', says: 'A restore replaces no store without --force, and none that a server has open.' },
  { id: 'cli.restore.engines', spec: 'mail.md CLI', says: 'A backup of one engine can be restored into the other, and mail goes on there.' },
  { id: 'cli.restore.older', spec: 'mail.md CLI', says: 'A backup of an older Parley is brought up to date as it is restored.' },
  { id: 'cli.clear.asks', spec: 'DECISIONS mail 15', says: 'Clearing says what it removes and how much, and does nothing without --force or a typed yes.' },
  { id: 'cli.clear.all', spec: 'mail.md CLI', says: 'Clearing removes the database, the archives and the key; what is not Parley\'s stays.' },
  { id: 'cli.clear.unused', spec: 'mail.md CLI', says: 'Clearing stops if another process has the store open.' },
  { id: 'cli.export.pages', spec: 'mail.md CLI', says: 'A project or a thread is exported as Markdown to be read, without blind copies, or as JSON.' },
  { id: 'cli.import.same', spec: 'mail.md CLI', says: 'An imported project has the same threads, order, senders, recipients and receipts, and is searchable.' },
  { id: 'cli.export.files', spec: 'mail.md CLI', says: 'Files and images go along: in the JSON, and beside a page that is written to a file, which links them.' },
  { id: 'cli.import.files', spec: 'mail.md CLI', says: 'An import restores the same attachments, byte by byte, each file once, within the quota.' },
  { id: 'cli.import.hostile', spec: 'DECISIONS all 9', says: 'An import takes no file that could not be sent: no lying name, script, broken image or foreign path.' },
  { id: 'cli.import.names', spec: 'DECISIONS all 22', says: 'An import takes no reserved, malformed or look-alike name, and no message of a sender that is not in it.' },
  { id: 'cli.import.careful', spec: 'mail.md CLI', says: 'An import into a project that is there needs --into or --force, and mixes no two threads.' },
  { id: 'cli.import.whole', spec: 'mail.md CLI', says: 'An export that is cut off or damaged is refused, and nothing of it is imported.' },
  { id: 'cli.doctor.sound', spec: 'mail.md CLI', says: '`doctor` finds nothing wrong with a sound installation, and makes and changes nothing.' },
  { id: 'cli.doctor.finds', spec: 'mail.md CLI', says: '`doctor` finds each fault, says what to do about it, and ends with exit code 1.' },
  { id: 'cli.developer.checks', spec: 'mail.md CLI', says: '`lint` and `typecheck` run the checks of a checkout, and say so where there is none.' },
] as const satisfies readonly Requirement[]
