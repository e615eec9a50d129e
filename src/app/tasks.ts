/** Tasks as the MCP engine keeps them: in the hub, under the name of this process. */

import type { Hub } from '../core/hub/hub.ts'
import { newHolder } from '../core/hub/job-leases.ts'
import {
  awaitTask,
  createTask,
  endTask,
  findTask,
  holdTasks,
  leaveTasks,
  listTasks,
  onTaskEnded,
  takeTasks,
} from '../core/tasks/tasks.ts'
import type { TaskStore } from '../doors/mcp/protocol/tasks.ts'

export function taskStore(hub: Hub): TaskStore {
  const holder = newHolder(hub)
  return {
    create: (caller, task) => createTask(hub, caller, { ...task, id: hub.ids.uuid(), holder }),
    find: (caller, id, owner) => findTask(hub, caller, id, owner),
    list: (caller, owner, before, limit) => listTasks(hub, caller, { owner, before, limit }),
    end: (caller, end) => endTask(hub, caller, end),
    wait: (caller, id, owner, signals) => awaitTask(hub, caller, { id, owner, signals }),
    watch: (fn) => onTaskEnded(hub, fn),
    hold: () => holdTasks(hub, holder),
    leave: () => leaveTasks(hub, holder),
    take: (doors) => takeTasks(hub, holder, doors),
  }
}
