/** Turns tracing on where the settings say so. */
import type { Metrics } from '../base/metrics.ts'
import type { Config } from '../settings/all.ts'

const nothing = async () => {}

/** The returned function sends what waits, and ends it. */
export async function startTracing(config: Config, { spansLost }: Pick<Metrics, 'spansLost'>) {
  if (!config.HTTP_OTEL_ENABLED) return nothing
  const { traceBySdk } = await import('./tracing-sdk.ts')
  return traceBySdk(config, (spans) => spansLost.inc(spans))
}
