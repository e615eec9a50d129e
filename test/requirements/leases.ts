/** Promises about leases on paths. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const leases = [
  { id: 'mail.lease.overlap', spec: 'DECISIONS mail 7', says: 'Two patterns overlap exactly when some path matches both, decided on the patterns alone.' },
  { id: 'mail.lease.bad-glob', spec: 'DECISIONS mail 7', says: 'A pattern that cannot be read is refused with the reason, and nothing is changed.' },
  { id: 'mail.lease.conflicts', spec: 'DECISIONS mail 7', says: 'A lease is granted and conflicts lists who holds it too: unless both share it, or it is the own.' },
  { id: 'mail.lease.brackets', spec: 'DECISIONS mail 23', says: 'Brackets are read as a class and as written; patterns overlap if either reading does.' },
  { id: 'mail.lease.reasons', spec: 'DECISIONS mail 23', says: 'Holders in conflicts come with their reason.' },
  { id: 'mail.lease.empty-list', spec: 'DECISIONS mail 22', says: 'An empty list of paths or ids to release or renew is INVALID_ARGUMENT: left out, it means all.' },
  { id: 'mail.lease.nothing-freed', spec: 'DECISIONS mail 22', says: 'A release that frees nothing says what the agent holds.' },
  { id: 'mail.lease.conflict-seen', spec: 'DECISIONS mail 7', says: 'A reservation in conflict answers with the conflicts first, and a sentence that says who holds what until when.' },
  { id: 'mail.lease.renewed-nothing', spec: 'mail API renew_file_reservations', says: 'A renewal that renews nothing says why.' },
  { id: 'mail.lease.longest', spec: 'DECISIONS mail 22', says: 'A lease is for 30 days at most, however often it is renewed.' },
  { id: 'cli.leases.release', spec: 'DECISIONS mail 22', says: 'file_reservations release frees any lease, and its holder gets a message that names the pattern.' },
  { id: 'mail.lease.refuse', spec: 'DECISIONS mail 7', says: 'With on_conflict "refuse" only what is free is granted, and of two who ask at once one gets it.' },
  { id: 'mail.lease.expired', spec: 'DECISIONS mail 7', says: 'An expired lease is free for every reader, cleaned up or not.' },
  { id: 'mail.lease.again', spec: 'mail Semantics & invariants', says: 'An agent that reserves the same pattern again keeps the same lease for longer.' },
  { id: 'mail.lease.release', spec: 'mail API release_file_reservations', says: 'Release ends the own active leases, by pattern or id, or all of them.' },
  { id: 'mail.lease.released', spec: 'mail Semantics & invariants', says: 'A released lease is never granted again as the same lease, whichever nodes act at the same time.' },
  { id: 'mail.lease.renew', spec: 'mail API renew_file_reservations', says: 'Renew adds to the time of the own active leases; what has expired stays free.' },
  { id: 'mail.lease.sweep', spec: 'mail FILE_RESERVATIONS_CLEANUP_ENABLED', says: 'Cleaning up marks expired leases as released when they expired, in batches.' },
  { id: 'mail.lease.meeting', spec: 'mail Contact model', says: 'Two agents work on the same files when active leases of theirs overlap.' },
  { id: 'mail.lease.tools', spec: 'mail API file_reservation_paths', says: 'The tools for leases take and answer what the specification says.' },
  { id: 'mail.lease.resource', spec: 'mail resource://file_reservations', says: 'The leases of a project can be read, active ones or all, the newest first, page by page.' },
  { id: 'cli.leases.list', spec: 'mail CLI Commands', says: 'file_reservations list, active and soon show the leases of a project, in columns or as JSON.' },
  { id: 'cli.leases.errors', spec: 'DESIGN Errors', says: 'Wrong usage of file_reservations says what is wrong and exits with 2; an unknown project exits with 1.' },
] as const satisfies readonly Requirement[]
