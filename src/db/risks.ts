/** Acknowledged work that PostgreSQL would lose with a power cut, or with one of its servers: a sentence for each setting. */
import sql from 'sql-template-tag'
import type { Reader } from './port.ts'
import { serversIn } from './url.ts'

export interface Risk {
  readonly says: string
  readonly advice: string
}

export async function risksOf(db: Reader, databaseUrl: string): Promise<Risk[]> {
  if (db.dialect !== 'postgres') return []
  const [{ commit, standbys } = { commit: '', standbys: '' }] = await db.all<{ commit: string; standbys: string }>(
    sql`SELECT current_setting('synchronous_commit') AS commit, current_setting('synchronous_standby_names') AS standbys`,
  )
  const risks: Risk[] = []
  if (commit === 'off')
    risks.push({
      says: 'PostgreSQL acknowledges work before it is on the disk (synchronous_commit is off): a crash loses the last of it.',
      advice: 'Set synchronous_commit = on in postgresql.conf, and for the user and the database of Parley.',
    })
  const alone = standbys === '' || commit === 'local' || commit === 'off'
  if (alone && serversIn(databaseUrl).length > 1)
    risks.push({
      says: 'DATABASE_URL names several servers, but no commit waits for a standby: a failover loses the last acknowledged work.',
      advice:
        'Set synchronous_standby_names and synchronous_commit = on, if your servers share no storage: docs/operations.md.',
    })
  return risks
}
