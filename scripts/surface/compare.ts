/** Which version a change of the public surface needs (CONTRIBUTING.md, Versions). */
import type { Surface } from './statements.ts'

export type Step = 'patch' | 'minor' | 'major'

export interface Change {
  readonly step: Exclude<Step, 'patch'>
  readonly says: string
}

/** Changes that break callers come first. */
export function changesOf(before: Surface, now: Surface): Change[] {
  const lost = [
    ...missingIn(now.offers, before.offers).map((line) => `gone: ${line}`),
    ...missingIn(before.demands, now.demands.filter(isOf(before))).map((line) => `newly asked for: ${line}`),
  ]
  const won = [
    ...missingIn(before.offers, now.offers).map((line) => `new: ${line}`),
    ...missingIn(now.demands, before.demands.filter(isOf(now))).map((line) => `asked for no more: ${line}`),
  ]
  return [
    ...lost.map((says) => ({ step: 'major', says }) as const),
    ...won.map((says) => ({ step: 'minor', says }) as const),
  ]
}

const missingIn = (those: readonly string[], lines: readonly string[]): string[] => {
  const known = new Set(those)
  return lines.filter((line) => !known.has(line))
}

/** Demands of a tool or command that is new, or gone, concern no caller. */
const isOf =
  ({ offers }: Surface) =>
  (demand: string): boolean =>
    offers.includes(demand.slice(0, demand.indexOf(' needs ')))

export const stepOf = (changes: readonly Change[]): Step => changes[0]?.step ?? 'patch'

/** Before 1.0.0 the middle number counts what breaks, and the last everything else. */
export function nextVersion(version: string, step: Step): string {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number)
  const counted = major > 0 ? step : step === 'major' ? 'minor' : 'patch'
  if (counted === 'major') return `${major + 1}.0.0`
  return counted === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`
}

/** Whether a version is at least another. */
export function reaches(version: string, least: string): boolean {
  const numbers = (text: string) => text.split(/[.+-]/).slice(0, 3).map(Number)
  const [ours, theirs] = [numbers(version), numbers(least)]
  const at = ours.findIndex((number, index) => number !== theirs[index])
  return at < 0 || (ours[at] ?? 0) > (theirs[at] ?? 0)
}
