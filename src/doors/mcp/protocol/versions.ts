/** The revisions of the protocol that are spoken, in two eras: with a handshake, and without. */
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'

export type EraName = 'legacy' | 'modern'

export const modernVersions = ['2026-07-28'] as const

/** The newest first: a client that asks for an unknown one is offered that. */
export const legacyVersions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS

/** Revisions are dates, and sort as text. */
export const isModern = (version: string | undefined): boolean => version !== undefined && version >= modernVersions[0]
