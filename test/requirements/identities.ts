/** Promises about projects and agents of the mail door. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const identities = [
  { id: 'mail.project.ensure', spec: 'mail.md API', says: 'ensure_project makes a project or finds it, and answers the same each time.' },
  { id: 'mail.project.slug', spec: 'DECISIONS mail 2', says: 'The slug of a project is readable and unique: a name and a short hash of its key.' },
  { id: 'mail.project.key', spec: 'DECISIONS mail 2', says: 'A project is named by its key or its slug, and a slash at the end of a path makes no other project.' },
  { id: 'mail.project.named', spec: 'DECISIONS mail 21', says: 'A project also goes by its slug without the hash, while one only has that name.' },
  { id: 'mail.project.human-key', spec: 'DECISIONS mail 21', says: 'human_key is an absolute path or commons; anything else is INVALID_ARGUMENT with a hint.' },
  { id: 'mail.project.nearest', spec: 'DECISIONS mail 21', says: 'A project_key that is neither known nor a path is PROJECT_NOT_FOUND with the nearest slugs.' },
  { id: 'mail.project.list', spec: 'mail.md API', says: 'resource://projects lists the projects, a page at a time where there are many.' },
  { id: 'mail.project.detail', spec: 'mail.md API', says: 'resource://project/{slug} shows a project and its agents, by slug or by key.' },
  { id: 'mail.name.combinations', spec: 'DECISIONS mail 4', says: 'There are more than 4,000 names to generate, all of two capitalised words, none like another.' },
  { id: 'mail.name.well-formed', spec: 'DECISIONS mail 4', says: 'Any two capitalised words are a well-formed name.' },
  { id: 'mail.name.strict', spec: 'mail.md Configuration', says: 'strict refuses a new name that is not well formed, and its hint has one that is free.' },
  { id: 'mail.name.coerce', spec: 'DECISIONS mail 4', says: 'coerce gives a generated name instead of a new one that is not well formed, and says so.' },
  { id: 'mail.name.always-auto', spec: 'mail.md Configuration', says: 'always_auto generates every new name.' },
  { id: 'mail.name.existing', spec: 'DECISIONS mail 4', says: 'A name that exists is taken as it is in every mode, and compared without case.' },
  { id: 'mail.name.unique', spec: 'mail.md Semantics', says: 'A generated name is nobody else\'s, also when two nodes make agents at once or every combination is used.' },
  { id: 'mail.name.reserved', spec: 'mail.md Web UI', says: 'No agent registers under HumanOverseer, the name of people.' },
  { id: 'mail.agent.same', spec: 'DECISIONS mail 4', says: 'register_agent with an existing name is that agent again, also after a restart.' },
  { id: 'mail.agent.updated', spec: 'mail.md Key flows', says: 'Registering again changes what is given of program, model and task, and keeps the rest and the contact policy.' },
  { id: 'mail.agent.new', spec: 'mail.md API', says: 'create_agent_identity makes a new agent, named by the letters and digits of its hint if that is free.' },
  { id: 'mail.agent.client', spec: 'DECISIONS mail 4', says: 'program and model may be left out: the program is then what the MCP client calls itself, else unknown.' },
  { id: 'mail.agent.policy', spec: 'DECISIONS all 12', says: 'An agent that registers starts with the contact policy auto.' },
  { id: 'mail.agent.whois', spec: 'mail.md API', says: 'whois shows the profile of one agent, with when it was last active and how much it has not read.' },
  { id: 'mail.agent.list', spec: 'DECISIONS mail 1', says: 'list_agents shows the agents of a project, the one active last first, and those within a time if asked.' },
  { id: 'mail.agent.never', spec: 'DECISIONS mail 26', says: 'An agent that others wrote to and that did nothing yet counts as active never, not as active now.' },
  { id: 'mail.agent.pages', spec: 'DECISIONS mail 1', says: 'resource://agents/{slug} shows all agents of a project, a page at a time, and passes nobody over.' },
  { id: 'mail.agent.active', spec: 'mail.md Semantics', says: 'When an agent was last active is right at once, and is kept over a restart.' },
  { id: 'cli.help.projects', spec: 'DECISIONS mail 21', says: 'Each project that an example of --help names is found where such a project exists.' },
  { id: 'cli.projects.list', spec: 'mail.md CLI', says: 'list-projects shows the projects, with their agents if asked, and as JSON for programs.' },
] as const satisfies readonly Requirement[]
