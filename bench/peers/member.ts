/** The questions to every system that is compared, in the words of none of them. */
import { setTimeout as sleep } from 'node:timers/promises'

/** One agent: a process of its own on a bus, a connection to the server of a mailbox. */
export interface Member {
  /** Throws if the message was refused. */
  send(to: string, text: string): Promise<void>
  /** Waits for mail, and returns the answer as it came. */
  receive(): Promise<string>
}

/** A system that runs on a store of its own. */
export interface House {
  join(name: string): Promise<Member>
  /** Milliseconds from the start of each process to its first answer, or to its being ready. */
  readonly started: readonly number[]
  readonly pids: readonly number[]
  /** How often a join was refused and tried again. */
  readonly refusedJoins: number
  close(): Promise<void>
}

export interface System {
  readonly name: string
  readonly version: string
  readonly licence: string
  /** Notes that a reader needs to judge the figures. */
  readonly notes: readonly string[]
  open(): Promise<House>
}

/** As a client does that is told to try again; `refused` counts how often it was. */
export async function persist<T>(refused: { count: number }, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await call()
    } catch (error) {
      if (tries === 200) throw error
      refused.count++
      await sleep(5)
    }
}
