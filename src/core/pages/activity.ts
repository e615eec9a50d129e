/** The activity of a project: messages over time, the busiest agents, and who writes to whom. */
import { grains, type LaneRow, listEdges, listLanes, listSlots } from '../../store/pages/activity.ts'
import type { Caller } from '../access/callers.ts'
import { type Hub, longReader, reader } from '../hub/hub.ts'
import { needProject, slugOfProject } from '../projects/projects.ts'
import { keep } from './kept.ts'

const windows = ['1h', '24h', '7d', '30d'] as const
type ActivityWindow = (typeof windows)[number]

/** The slots that are added up, the bars that are shown, and how many of them. */
const shapes: Readonly<Record<ActivityWindow, { grain: number; bars: number; barMs: number }>> = {
  '1h': { grain: grains.minutes, bars: 12, barMs: grains.minutes },
  '24h': { grain: grains.hour, bars: 24, barMs: grains.hour },
  '7d': { grain: grains.hour, bars: 28, barMs: 6 * grains.hour },
  '30d': { grain: grains.day, bars: 30, barMs: grains.day },
}

const mostLanes = 40
const mostEdges = 400

export interface Activity {
  readonly since: number
  readonly until: number
  readonly buckets: readonly Bucket[]
  /** The busiest agents, each with a number for every bucket. */
  readonly lanes: readonly { readonly agent: string; readonly buckets: readonly number[] }[]
  /** The most used first; an agent of another project is `Name@slug`. */
  readonly edges: readonly { readonly from: string; readonly to: string; readonly count: number }[]
}

export interface Bucket {
  readonly ts: number
  readonly count: number
}

/** The last bar is that of now, and not yet full. */
export async function readActivity(
  hub: Hub,
  caller: Caller,
  project: string,
  { window, mark }: { readonly window: ActivityWindow; readonly mark?: string | undefined },
): Promise<Activity> {
  const { id } = await needProject(hub, caller, project)
  return keep(hub, caller, { name: `activity ${id} ${window}`, mark }, () => activityOf(hub, id, window))
}

async function activityOf(hub: Hub, projectId: number, window: ActivityWindow): Promise<Activity> {
  const { grain, bars, barMs } = shapes[window]
  const { since, until, buckets } = await barsOf(hub, projectId, window)
  const query = { projectId, grain, since }
  const lanes = Map.groupBy(await listLanes(longReader(hub), query), ({ id }) => id)
  const name = async (of: string, home: number): Promise<string> =>
    home === projectId ? of : `${of}@${await slugOfProject(hub, home)}`
  const edges = []
  for (const row of await listEdges(longReader(hub), query, mostEdges))
    edges.push({
      from: await name(row.from_name, row.from_project),
      to: await name(row.to_name, row.to_project),
      count: Number(row.count),
    })
  return {
    since,
    until,
    buckets,
    lanes: [...lanes.values()]
      .map((rows) => ({ agent: rows[0]?.name ?? '', buckets: inBars(rows, { since, bars, barMs }) }))
      .sort((a, b) => sum(b.buckets) - sum(a.buckets))
      .slice(0, mostLanes),
    edges,
  }
}

/** Messages over time alone. */
export async function barsOf(hub: Hub, projectId: number, window: ActivityWindow) {
  const { grain, bars, barMs } = shapes[window]
  const now = hub.clock.now()
  const until = now - (now % barMs) + barMs
  const since = until - bars * barMs
  const counts = inBars(await listSlots(reader(hub), { projectId, grain, since }), { since, bars, barMs })
  const buckets: Bucket[] = counts.map((count, n) => ({ ts: since + n * barMs, count }))
  return { since, until, buckets }
}

interface Bars {
  readonly since: number
  readonly bars: number
  readonly barMs: number
}

function inBars(rows: readonly Pick<LaneRow, 'slot' | 'count'>[], { since, bars, barMs }: Bars): number[] {
  const counts = new Array<number>(bars).fill(0)
  for (const { slot, count } of rows) {
    const bar = Math.floor((slot - since) / barMs)
    if (bar >= 0 && bar < bars) counts[bar] = (counts[bar] ?? 0) + Number(count)
  }
  return counts
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
