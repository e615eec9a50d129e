/** Tasks in memory, for a door without a hub. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../src/base/clock.ts'
import type { Task } from '../../../src/core/tasks/tasks.ts'
import type { TaskStore } from '../../../src/doors/mcp/protocol/tasks.ts'

export function memoryTasks(clock: Clock): TaskStore {
  const all = new Map<string, Task>()
  const watchers = new Set<(id: string) => void>()
  const find = (id: string, owner: string) => {
    const task = all.get(id)
    return task?.owner === owner ? task : undefined
  }
  return {
    async create(caller, task) {
      const [id, at] = [randomUUID(), clock.now()]
      const made: Task = { ...task, id, caller, status: 'working', result: undefined, createdAt: at, updatedAt: at }
      all.set(id, made)
      return made
    },
    find: async (_, id, owner) => find(id, owner),
    list: async (_, owner, __, limit) => [...all.values()].filter((task) => task.owner === owner).slice(0, limit),
    async end(_, { id, status, result }) {
      const task = all.get(id)
      if (task?.status !== 'working') return undefined
      const ended = { ...task, status, result, updatedAt: clock.now() }
      all.set(id, ended)
      for (const tell of watchers) tell(id)
      return ended
    },
    async wait(_, id, owner) {
      while (find(id, owner)?.status === 'working') await new Promise((resolve) => clock.after(1000, () => resolve(0)))
      return find(id, owner)
    },
    watch(fn) {
      watchers.add(fn)
      return () => watchers.delete(fn)
    },
    hold: async () => {},
    leave: async () => {},
    take: async () => [],
  }
}
