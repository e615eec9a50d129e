/** Promises about search, summaries and macros. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const finding = [
  { id: 'mail.search.finds', spec: 'mail.md §5', says: 'search_messages finds mail of a project by its words, the best first, with a snippet.' },
  { id: 'mail.search.fields', spec: 'DECISIONS mail 9', says: 'A search can ask for subject:, body:, from: and thread: (its key, or the id of its first message).' },
  { id: 'mail.search.minus', spec: 'DECISIONS mail 28', says: '-word in a search is NOT.' },
  { id: 'mail.search.key-alone', spec: 'DECISIONS mail 28', says: 'A search for nothing but the key of a thread finds the messages of that thread.' },
  { id: 'mail.search.notes', spec: 'DECISIONS mail 28', says: 'A search that can find nothing by its form says so in a note.' },
  { id: 'mail.search.never-raises', spec: 'DECISIONS mail 9', says: 'No query raises: what is not of the query language is looked for as it stands.' },
  { id: 'mail.search.visible', spec: 'DECISIONS mail 6', says: 'A search shows what its project may see: its own threads, and what others openly exchanged with it.' },
  { id: 'mail.search.bcc', spec: 'DECISIONS mail 6', says: 'No search tells who got a blind copy, and a blind copy alone shows a message to no other project.' },
  { id: 'mail.search.rebuilt', spec: 'DESIGN One write', says: 'The index of an older Parley is made anew, so that it also finds mail.' },
  { id: 'mail.summary.extractive', spec: 'DECISIONS mail 10', says: 'Without a language model a summary has participants, totals, questions, actions, decisions, code references.' },
  { id: 'mail.summary.bounded', spec: 'mail.md §5', says: 'A summary stays short however long the thread is, and its examples are cut.' },
  { id: 'mail.summary.many', spec: 'mail.md API', says: 'summarize_threads tells of each thread and of all together; one that is missing does not stop the others.' },
  { id: 'mail.summary.bcc', spec: 'DECISIONS mail 6', says: 'No summary names who got a blind copy.' },
  { id: 'mail.summary.refined', spec: 'DECISIONS mail 10', says: 'Where a language model is set up it refines the summary, unless llm_mode is false.' },
  { id: 'mail.summary.falls-back', spec: 'DECISIONS mail 10', says: 'If the language model fails, the summary without it is returned and says so.' },
  { id: 'mail.summary.fenced', spec: 'DECISIONS all 9', says: 'Messages are put before a language model as data, fenced, with the names of their senders.' },
  { id: 'mail.llm.cached', spec: 'mail.md Configuration', says: 'The same question is put to a language model once; each call is logged with its tokens.' },
  { id: 'mail.llm.redis', spec: 'DECISIONS mail 29', says: 'With LLM_CACHE_BACKEND=redis processes share the answers of the model.' },
  { id: 'mail.llm.redis-away', spec: 'DECISIONS mail 29', says: 'A Redis that is away, slow or wrong costs one warning and half a second, and no caller an error.' },
  { id: 'mail.llm.unusable', spec: 'DECISIONS mail 29', says: 'An answer of the model that cannot be used is not remembered.' },
  { id: 'mail.llm.secret', spec: 'DECISIONS post 2', says: 'The key of the language model is in no log and no error.' },
  { id: 'mail.macro.start', spec: 'mail.md Tools', says: 'macro_start_session makes the project, registers, reserves and shows the inbox.' },
  { id: 'mail.macro.start-checked', spec: 'DESIGN Nothing lost', says: 'macro_start_session writes nothing if one of its patterns is bad.' },
  { id: 'mail.macro.prepare', spec: 'mail.md Tools', says: 'macro_prepare_thread registers, summarises a thread and shows the inbox.' },
  { id: 'mail.macro.prepare-missing', spec: 'mail.md Tools', says: 'macro_prepare_thread also prepares for a thread that nobody has written to, and registers nobody if told so.' },
  { id: 'mail.macro.cycle', spec: 'mail.md Tools', says: 'macro_file_reservation_cycle reserves and, if told so, releases what was not held before.' },
  { id: 'mail.macro.handshake', spec: 'mail.md Tools', says: 'macro_contact_handshake asks, answers if told so, and sends the welcome; the other is not active by it.' },
] as const satisfies readonly Requirement[]
