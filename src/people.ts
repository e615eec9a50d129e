/** The hub as the commands for people open it: for a moment, with its log on stderr. */
import { createLog } from './base/log.ts'
import type { Config } from './config.ts'
import type { Hub } from './core/hub.ts'
import { openDatabase, openOn } from './open.ts'

export async function openForPeople(config: Config): Promise<Hub> {
  const json = config.LOG_JSON_ENABLED || !process.stderr.isTTY
  const log = createLog({ level: config.LOG_LEVEL, json, to: process.stderr })
  return openOn(await openDatabase(config), config, log)
}
