/** The files and libraries that a program loads before it runs: static imports, not those that come later. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './sources.ts'

export function loadedBy(entry: string): { files: ReadonlySet<string>; libraries: ReadonlySet<string> } {
  const files = new Set<string>()
  const libraries = new Set<string>()
  const walk = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    const text = readFileSync(file, 'utf8')
    for (const [, type, from = ''] of text.matchAll(/^(?:import|export)(\s+type\b)?[^'"]*?from\s+'([^']+)'/gm)) {
      if (type !== undefined) continue
      if (from.startsWith('.')) walk(join(file, '..', from))
      else libraries.add(from)
    }
  }
  walk(join(root, entry))
  return { files, libraries }
}
