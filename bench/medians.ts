/** Latencies of single calls, of several clients in turns: a slow second of the machine falls on all of them. */
import { percentile } from './client.ts'

/** The median of each turn, by client. Two rounds before the first that counts make all of it warm. */
export async function mediansInTurns<Name extends string>(
  calls: Readonly<Record<Name, () => Promise<unknown>>>,
  { rounds, callsPerTurn = 200 }: { readonly rounds: number; readonly callsPerTurn?: number },
): Promise<Record<Name, number[]>> {
  const names = Object.keys(calls) as Name[]
  const seen = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = -2; round < rounds; round++)
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + 2 + turn) % names.length]
      if (name === undefined) continue
      const median = percentile(await timed(calls[name], callsPerTurn), 50)
      if (round >= 0) seen[name].push(median)
    }
  return seen
}

async function timed(call: () => Promise<unknown>, callsPerTurn: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < callsPerTurn; n++) {
    const began = performance.now()
    await call()
    times.push(performance.now() - began)
  }
  return times
}
