/** Promises about the folders that projects are named by, and about listing, merging and renaming projects. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const projects = [
  { id: 'mail.project.spellings', spec: 'DECISIONS mail 21', says: '`/a//b`, `/a/./b`, `/a/b/../b` are one project, and so are `C:\\x` and `c:/x`; old keys are found by it.' },
  { id: 'mail.project.real', spec: 'DECISIONS mail 21', says: 'For local callers a link means the project of its target, a worktree that of its main checkout.' },
  { id: 'mail.project.home', spec: 'DECISIONS mail 21', says: 'A project at the home folder is around no folder that is outside of a git repository.' },
  { id: 'mail.project.worktrees-apart', spec: 'DECISIONS mail 21', says: 'With PROJECT_PER_WORKTREE each git worktree is a project of its own.' },
  { id: 'mail.project.forged', spec: 'DESIGN Callers', says: 'No spelling, link or .git file brings a caller into a project that it could not name itself.' },
  { id: 'mail.project.inside', spec: 'DESIGN Callers', says: 'A folder in a known project means that project where a connection names it; an argument makes it as asked.' },
  { id: 'cli.projects.figures', spec: 'mail.md CLI', says: '`projects list` shows each project with its agents, threads, messages and active leases.' },
  { id: 'cli.projects.merge', spec: 'DESIGN Nine nouns', says: '`projects merge` moves all of a project into another; agents of one name become one agent.' },
  { id: 'cli.projects.merge-asks', spec: 'DECISIONS mail 15', says: 'A merge lists what it does, and does nothing without --force or a typed yes, or beside a running server.' },
  { id: 'cli.projects.merge-keys', spec: 'DESIGN Callers', says: 'Two agents of one name that hold keys are not merged: the refusal names them and what to do.' },
  { id: 'cli.projects.merge-whole', spec: 'DESIGN One write', says: 'A merge that is killed has happened whole or not at all; archive and search follow it.' },
  { id: 'cli.projects.rename', spec: 'mail.md CLI', says: '`projects rename` gives a project another key; its slug and all that is in it stay.' },
  { id: 'cli.store.named', spec: 'DECISIONS all 19', says: 'status, doctor, guard status and the banner name the store: engine and place, without a password.' },
  { id: 'cli.store.other', spec: 'DECISIONS all 19', says: 'A command that looks into another store than the server on its port says so, with what to set.' },
  { id: 'cli.import.store', spec: 'DECISIONS all 19', says: '`import` makes a store where there is none; a file that is no export leaves none behind.' },
  { id: 'cli.guard.here', spec: 'mail CLI Commands', says: '`guard install` alone takes the current repository and makes its project; an unknown AGENT_NAME is told.' },
  { id: 'cli.guard.other-store', spec: 'DECISIONS all 19', says: 'A guard that looks into another store than the server on its port says so, and the commit passes.' },
  { id: 'cli.doctor.unborn', spec: 'mail.md CLI', says: 'Before the first start `doctor` finds no fault, and says what is not there yet.' },
  { id: 'serve.config.sourced', spec: 'DECISIONS all 19', says: 'Each error about a setting names its source; `config show` has every setting and where it comes from.' },
] as const satisfies readonly Requirement[]
