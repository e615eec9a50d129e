/** Settings → where the archive is, and whose name its commits bear. */
import { join } from 'node:path'
import type { Config } from '../settings/all.ts'

/** Where the projects' repositories are. */
export const archiveFolder = ({ STORAGE_ROOT }: Pick<Config, 'STORAGE_ROOT'>): string => join(STORAGE_ROOT, 'projects')

/** Of all commits. Git takes no angle brackets in a name. */
export const authorOf = ({ GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL }: Config): { name: string; email: string } => ({
  name: GIT_AUTHOR_NAME.replace(/[<>\p{Cc}]/gu, ''),
  email: GIT_AUTHOR_EMAIL.replace(/[<>\p{Cc}\s]/gu, ''),
})
