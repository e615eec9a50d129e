/** The projects that commits go to, by their slugs. */
import type { Home } from '../../archive/documents.ts'
import type { Commit } from '../../archive/repository.ts'
import { findHome } from '../../store/exports/archive.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'

/** The commits of each project, in their order. */
export type Commits = Map<string, Commit[]>

const homes = memory(() => new Map<number, Home>())

/** A project is never renamed. */
export async function homeOf(hub: Hub, projectId: number): Promise<Home> {
  return homes(hub).get(projectId) ?? remember(homes(hub), projectId, await findHome(reader(hub), projectId))
}

export function addCommits(all: Commits, more: Commits): void {
  for (const [slug, commits] of more) all.set(slug, [...(all.get(slug) ?? []), ...commits])
}

export function addCommit(all: Commits, slug: string, commit: Commit): void {
  addCommits(all, new Map([[slug, [commit]]]))
}
