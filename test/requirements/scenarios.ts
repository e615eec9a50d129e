/** Promises of the mail door that only a whole story, an attack or a crowd can show. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const scenarios = [
  { id: 'mail.story.onboarding', spec: 'mail.md Agent Onboarding', says: 'The three steps of the onboarding work call for call.' },
  { id: 'mail.story.walkthrough', spec: 'mail.md End-to-end walkthrough', says: 'The walkthrough works call for call: two projects, a lease, a plan, a reply in its thread, a summary.' },
  { id: 'mail.story.curl', spec: 'mail.md HTTP usage examples', says: 'The curl lines and the Python client are answered as plain requests, with and without a slash at the end.' },
  { id: 'mail.story.uri', spec: 'mail.md Resource layer', says: 'Resource URIs are read as the specification writes them, with the project\'s path unencoded.' },
  { id: 'mail.story.guide', spec: 'mail.md Client Integration Guide', says: 'A client learns from the directory which tools there are, and from the recent calls what was done.' },
  { id: 'mail.story.newcomer', spec: 'DECISIONS mail 17–26', says: 'Two agents that know only the list of tools and the instructions work together without an error.' },
  { id: 'mail.story.blurb', spec: 'mail.md Ready-Made Blurb', says: 'The calls in the blurb for AGENTS.md work, within a project and across two.' },
  { id: 'mail.story.beads', spec: 'mail.md Integrating with Beads', says: 'A task is reserved, announced, answered, acknowledged and released under its one id.' },
  { id: 'mail.interplay.doors', spec: 'DESIGN The doors', says: 'Mail goes both ways between the mailbox door and the mail door, and is read at both once taken at one.' },
  { id: 'mail.interplay.contacts', spec: 'DECISIONS all 12', says: 'A contact policy set at the mail door holds at the mailbox door too.' },
  { id: 'mail.interplay.wakes', spec: 'DESIGN One wait', says: 'send_message wakes who waits in check_mail.' },
  { id: 'mail.interplay.topic-names', spec: 'DESIGN The doors', says: 'A message of a topic has one thread and subject, in search as in its thread.' },
  { id: 'mail.interplay.topics', spec: 'DESIGN The doors', says: 'A topic of the bus is a thread of commons: readable and searchable at the mail door.' },
  { id: 'mail.interplay.restart', spec: 'DESIGN One write, always the same shape', says: 'kill -9 and a restart lose no agent, message, receipt, lease or contact that was answered for.' },
  { id: 'mail.attack.bcc', spec: 'DECISIONS mail 6', says: 'No tool or resource that anybody else may call shows who had a blind copy.' },
  { id: 'mail.attack.block-all', spec: 'DECISIONS mail 5', says: 'Nothing reaches an agent that blocks all, by whatever flag, way or door.' },
  { id: 'mail.attack.cold', spec: 'mail.md Contact model', says: 'Nothing that a stranger does by itself makes it known to an agent that wants contact first, or has declined it.' },
  { id: 'mail.attack.other-project', spec: 'mail.md Isolation by project', says: 'A message of another project can be neither read, found, summarised, answered, marked nor acknowledged.' },
  { id: 'mail.attack.overseer', spec: 'mail.md Human Overseer', says: 'No agent sends under the name of people, by whatever door it comes.' },
  { id: 'mail.attack.uri', spec: 'DECISIONS all 9', says: 'No name, key or id breaks out of the URI or the project it stands in.' },
  { id: 'mail.attack.query', spec: 'DECISIONS mail 9', says: 'No query raises an error or reaches beyond the project, whatever SQL or index syntax it holds.' },
  { id: 'mail.attack.log', spec: 'DECISIONS all 9', says: 'Nothing that is sent can forge a line of the log: every line is one JSON object.' },
  { id: 'mail.attack.json', spec: 'DECISIONS all 9', says: 'Names such as __proto__ and constructor are names like others.' },
  { id: 'mail.attack.size', spec: 'DECISIONS all 8', says: 'Input that is too large, too deep or no text is refused, writes nothing and harms nobody.' },
  { id: 'mail.attack.errors', spec: 'DESIGN Errors', says: 'Every wrong argument is answered with a code and a hint that names a next call, and writes nothing.' },
  { id: 'mail.crowd.messages', spec: 'DESIGN Tests', says: 'Of fifty agents at once, each answered send is in each inbox once and found by search.' },
  { id: 'mail.crowd.leases', spec: 'DECISIONS mail 7', says: 'However many ask at once, no two agents hold overlapping exclusive leases when each asks for what is free.' },
  { id: 'mail.crowd.counters', spec: 'mail.md Semantics', says: 'After a crowd has read and acknowledged, the counters of unread mail are right.' },
] as const satisfies readonly Requirement[]
