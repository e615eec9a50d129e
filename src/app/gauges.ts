/** The gauges of a server, brought up to date for each scrape; and the port where only they are served. */
import type { Metrics } from '../base/metrics.ts'
import { countUnread } from '../core/agents/agents.ts'
import { createFigures, type FigureWishes } from '../core/hub/figures.ts'
import { countWaiters, databaseFigures, type Hub, reader } from '../core/hub/hub.ts'
import { serveMetrics } from '../doors/http/metrics-port.ts'
import type { Engine } from '../doors/mcp/protocol/engine.ts'
import type { Config } from '../settings/all.ts'
import { version } from './version.ts'

/** Brings all gauges up to date. */
export function refreshing(hub: Hub, { streams, sessions }: Engine, wishes: FigureWishes): () => Promise<void> {
  const { metrics } = hub
  const figures = createFigures(hub, wishes)
  metrics.buildInfo.labels(version, reader(hub).dialect).set(1)
  return async () => {
    metrics.waiting.set(countWaiters(hub))
    metrics.streams.set(streams.size)
    metrics.sessions.set(sessions?.size ?? 0)
    const {
      queued = 0,
      connections,
      connectionsIdle = 0,
      fileBytes,
      walBytes = 0,
      freeBytes = 0,
    } = databaseFigures(hub)
    metrics.writerQueue.set(queued)
    if (connections !== undefined) {
      metrics.connections.labels('idle').set(connectionsIdle)
      metrics.connections.labels('used').set(connections - connectionsIdle)
    }
    if (fileBytes !== undefined) {
      metrics.databaseBytes.labels('database').set(fileBytes)
      metrics.databaseBytes.labels('wal').set(walBytes)
      metrics.diskFree.set(freeBytes)
    }
    metrics.unread.set(await countUnread(hub))
    await figures()
  }
}

/** The returned function ends it. */
export async function openMetricsPort(
  { METRICS_PORT: port, METRICS_TOKEN: token, HTTP_HOST: host }: Config,
  refresh: () => Promise<void>,
  { meters }: Pick<Metrics, 'meters'>,
): Promise<() => Promise<void>> {
  if (port === 0) return async () => {}
  // Where the database is away, figures are wanted most: the gauges stay as they are.
  const text = async () => {
    await refresh().catch(() => {})
    return meters.text()
  }
  const { close } = await serveMetrics({ host, port, token, text })
  return close
}
