/** Memory, processor, files, garbage collection and the event loop of this process, by the names that Prometheus' clients have for them. */
import { readdirSync } from 'node:fs'
import {
  constants,
  monitorEventLoopDelay,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks'
import { nextTurn } from './clock.ts'
import type { Meters } from './meters.ts'
import { openFileLimit } from './processes.ts'

/** Its look at the event loop wakes an idle process: ten times a second, not a hundred (0.5 % of a core). */
const lagEveryMs = 100

const gcSeconds = [0.001, 0.01, 0.1, 1, 2, 5]
const gcKinds: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}

/** Goes on until the function that it returns is called. */
export function collectProcessMetrics(meters: Meters): () => void {
  const counter = (name: string, help: string) => meters.counter({ name, help }).labels()
  const gauge = (name: string, help: string) => meters.gauge({ name, help }).labels()
  /** Of several processes they add up. */
  const ownGauge = (name: string, help: string) => meters.gauge({ name, help }, 'sum').labels()
  const cpu = {
    user: counter('process_cpu_user_seconds_total', 'Processor time of the program itself.'),
    system: counter('process_cpu_system_seconds_total', 'Processor time of the system for it.'),
    both: counter('process_cpu_seconds_total', 'Processor time, of both.'),
  }
  gauge('process_start_time_seconds', 'When the process started, since 1970.').set(
    Math.round(performance.timeOrigin / 1000),
  )
  const memory = {
    rss: ownGauge('process_resident_memory_bytes', 'Memory that the process takes.'),
    heapTotal: ownGauge('nodejs_heap_size_total_bytes', 'Memory of the heap.'),
    heapUsed: ownGauge('nodejs_heap_size_used_bytes', 'Memory of the heap that is in use.'),
    external: ownGauge('nodejs_external_memory_bytes', 'Memory that objects hold outside of the heap.'),
  }
  const resources = ownGauge('nodejs_active_resources_total', 'What keeps the event loop busy: timers, sockets, files.')
  const files = ownGauge('process_open_fds', 'Open files, connections among them.')
  const fileLimit = openFileLimit()
  if (fileLimit !== undefined) ownGauge('process_max_fds', 'How many files may be open.').set(fileLimit)
  const lag = {
    now: gauge('nodejs_eventloop_lag_seconds', 'How long a turn of the event loop took just now.'),
    min: gauge('nodejs_eventloop_lag_min_seconds', 'The shortest time between two looks at the event loop.'),
    max: gauge('nodejs_eventloop_lag_max_seconds', 'The longest time between two looks at the event loop.'),
    mean: gauge('nodejs_eventloop_lag_mean_seconds', 'The mean time between two looks at the event loop.'),
    stddev: gauge('nodejs_eventloop_lag_stddev_seconds', 'The spread of the times between two looks.'),
    p50: gauge('nodejs_eventloop_lag_p50_seconds', 'Half of the times between two looks are shorter.'),
    p90: gauge('nodejs_eventloop_lag_p90_seconds', 'Nine of ten times between two looks are shorter.'),
    p99: gauge('nodejs_eventloop_lag_p99_seconds', '99 of 100 times between two looks are shorter.'),
  }
  meters
    .gauge({ name: 'nodejs_version_info', help: 'The version of Node.js.', labels: ['version'] })
    .labels(process.version)
    .set(1)
  const collections = watchCollections(meters)
  const delays = monitorEventLoopDelay({ resolution: lagEveryMs })
  delays.enable()

  meters.onRead(async () => {
    const { user, system } = process.cpuUsage()
    cpu.user.set(user / 1e6)
    cpu.system.set(system / 1e6)
    cpu.both.set((user + system) / 1e6)
    const used = process.memoryUsage()
    for (const [name, value] of Object.entries(memory)) value.set(used[name as keyof typeof memory])
    resources.set(process.getActiveResourcesInfo().length)
    files.set(countFiles())
    const began = performance.now()
    await nextTurn()
    lag.now.set((performance.now() - began) / 1000)
    for (const name of ['min', 'max', 'mean', 'stddev'] as const) lag[name].set(delays[name] / 1e9)
    for (const [name, percent] of [
      ['p50', 50],
      ['p90', 90],
      ['p99', 99],
    ] as const)
      lag[name].set(delays.percentile(percent) / 1e9)
    delays.reset()
  })
  return () => {
    collections.disconnect()
    delays.disable()
  }
}

function watchCollections(meters: Meters): PerformanceObserver {
  const family = meters.histogram(
    { name: 'nodejs_gc_duration_seconds', help: 'Time of garbage collections by kind.', labels: ['kind'] },
    gcSeconds,
  )
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail, duration } = entry as PerformanceEntry & { readonly detail?: NodeGCPerformanceDetail }
      family.labels(gcKinds[detail?.kind ?? 0] ?? 'other').observe(duration / 1000)
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return observer
}

/** Zero where the system does not tell (not Linux). */
function countFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}
