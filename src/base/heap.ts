/** The heap of this process, as far as it can be told how large to be. */
import v8 from 'node:v8'

/**
 * Until the returned function is called, the part of the heap for new objects does not grow. Nearly all that a start makes is there to
 * stay, which V8 takes for a need of more room: 16 MB, of which a resting server uses 2. Under load it grows as always.
 */
export function holdNewSpace(): () => void {
  // Another V8 may not know this word, and would say so on standard error.
  if (!process.version.startsWith('v24.')) return () => {}
  v8.setFlagsFromString('--semi-space-growth-factor=1')
  return () => v8.setFlagsFromString('--semi-space-growth-factor=2')
}
