/** Promises about what people read, write and watch at the command line. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const people = [
  { id: 'cli.people.inbox', spec: 'mail.md CLI', says: '`inbox` lists all mail or that of one agent, newest first, by project, sender, unread and page.' },
  { id: 'cli.people.read', spec: 'mail.md CLI', says: '`read` shows a message whole with the state of each recipient, by its number alone.' },
  { id: 'cli.people.send', spec: 'mail Human Overseer', says: '`send` writes as HumanOverseer with the preamble, to agents of one or several projects, from words or stdin.' },
  { id: 'cli.people.reply', spec: 'mail Human Overseer', says: '`reply` answers a message to all who take part in its thread, and a topic where it is.' },
  { id: 'cli.people.threads', spec: 'mail.md CLI', says: '`threads` has a line a thread or topic: its newest message and how many there are.' },
  { id: 'cli.people.search', spec: 'mail Search syntax', says: '`search` finds messages of all projects, or of one, by the query language of the pages.' },
  { id: 'cli.people.who', spec: 'mail.md CLI', says: '`who` shows who was active lately, `agents` everybody, over all projects, the latest first.' },
  { id: 'cli.people.watch', spec: 'DESIGN One wait', says: '`watch` shows each message of other processes once, at once, on one line, of all, a project or a thread.' },
  { id: 'cli.people.unmarked', spec: 'mail.md CLI', says: 'Whatever people read at the command line, nothing is marked as read and no agent counts as active.' },
  { id: 'cli.people.person', spec: 'mail Security', says: 'People see sealed mail sealed; with the key of an agent set, the commands are that agent\'s alone.' },
  { id: 'cli.people.forms', spec: 'DESIGN The doors', says: 'Lists are tables that fit a terminal, tabs between values in a pipe, and JSON with --json.' },
  { id: 'cli.people.harmless', spec: 'DECISIONS all 9', says: 'No text of an agent steers the terminal of a person or passes for a line of Parley.' },
  { id: 'cli.people.errors', spec: 'DESIGN Errors', says: 'A name or number that is not there is answered with the nearest name, or with the next step.' },
  { id: 'cli.topics.create', spec: 'DESIGN The doors', says: '`topics create` makes a topic; an open one of that name is left as it is.' },
  { id: 'cli.people.server', spec: 'DESIGN The doors', says: 'With --server or PARLEY_SERVER the same commands go by HTTP: the same answers, the same errors.' },
  { id: 'cli.people.token', spec: 'DESIGN Callers', says: 'The token file counts as a person at a server; with --agent a stored key makes the commands that agent\'s.' },
  { id: 'cli.people.meant', spec: 'DESIGN Callers', says: 'The operator\'s token is sent to this machine and to the server of the settings, and to no other.' },
  { id: 'cli.people.light', spec: 'DESIGN The doors', says: '`status`, and people\'s commands by a server, load neither core nor a database.' },
  { id: 'cli.people.unseen', spec: 'DECISIONS mail 17', says: 'A person who writes to a name that nobody has answered to yet is told so, with the names that are near.' },
  { id: 'cli.people.quick', spec: 'DESIGN The doors', says: 'Commands that read the store load neither MCP nor its schemas; widths of letters only for a terminal.' },
  { id: 'cli.people.resumes', spec: 'DESIGN One wait', says: 'Over a restart of the server `watch` goes on where it was: no message is missed or told twice.' },
] as const satisfies readonly Requirement[]
