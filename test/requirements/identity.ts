/** Promises about the connection that says who calls, and in which project. */

// biome-ignore format: a table, one promise a line
export const identity = [
  { id: 'identity.header.counts', spec: 'DESIGN Callers', says: 'X-Parley-Agent counts at every MCP door where ?agent= does; an empty one is none, and both must agree.' },
  { id: 'identity.header.variable', spec: 'DESIGN Callers', says: 'X-Parley-Agent with a variable that was not filled in is refused with the line that mends the settings.' },
  { id: 'identity.credential.rules', spec: 'DESIGN Callers', says: 'A header, query or path that differs from a key or token is an error that says which side is wrong.' },
  { id: 'identity.credential.home', spec: 'DESIGN Callers', says: 'A key or token tells agent and project at every MCP door: no name and no ?project= is needed beside it.' },
  { id: 'identity.name.foreign', spec: 'DESIGN Callers', says: 'Who only writes the name of an agent that holds a key is told so: no count of its mail, and no call as it.' },
  { id: 'identity.name.kept', spec: 'DESIGN Callers', says: 'A name that comes with the connection is registered as it is, in every mode of names.' },
  { id: 'identity.name.made-up', spec: 'DESIGN Callers', says: 'A name that was made up is shown with the header to set, so that the next session has it too.' },
  { id: 'identity.arguments.filled', spec: 'DESIGN Callers', says: 'At the mail door arguments that name the caller or its project are filled in by the connection.' },
  { id: 'identity.resources.filled', spec: 'DESIGN Callers', says: 'Resources of the mail door take agent and project from the connection too; their templates say so.' },
  { id: 'identity.arguments.agree', spec: 'DESIGN Callers', says: 'Such an argument that is given all the same must agree with header and URL, or the error names both sides.' },
  { id: 'identity.tools.short', spec: 'DESIGN Callers', says: 'Where the connection tells both, tools/list has none of them and stays below 18,000 characters.' },
  { id: 'identity.tools.optional', spec: 'DESIGN Callers', says: 'Where only a call tells the project, or the connection tells one of the two, the arguments are optional.' },
  { id: 'identity.project.roots', spec: 'DESIGN Callers', says: 'The first root of a client is its project: asked once a session, or by input_required, if nothing else tells.' },
  { id: 'identity.project.codex', spec: 'DESIGN Callers', says: 'The workspace that Codex sends with a call is its project, unless the call or the connection names one.' },
  { id: 'identity.project.silent', spec: 'DESIGN Callers', says: 'A client that does not tell its folder is asked once, not waited for in every call, and told what to pass.' },
  { id: 'identity.greeting.who', spec: 'DESIGN Callers', says: 'Instructions tell who you are, where, how much is unread and what to do, in at most 4,000 characters.' },
  { id: 'identity.greeting.session', spec: 'DESIGN Callers', says: 'macro_start_session answers who you are, where, how much is unread and what to do.' },
  { id: 'identity.stdio.name', spec: 'DESIGN Callers', says: 'On stdio the agent comes by --agent, else by AGENT_NAME.' },
] as const
