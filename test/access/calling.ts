/** A call of a door for the matrix: the request that is made, and what each caller gets. */
import type { Code } from '../../src/base/errors.ts'
import type { Case, Row as MatrixRow } from './matrix.ts'
import type { Target as CoreTarget } from './world.ts'

/** With a repository of code beside it. */
export type Target = CoreTarget & { readonly repository: string }

export type Row = Readonly<Record<Case, 'yes' | Code>>

export interface Request {
  readonly path: string
  /** JSON-RPC at the doors of MCP. */
  readonly rpc?: { readonly method: string; readonly params: object }
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly body?: object
}

export interface DoorCall {
  readonly name: string
  /** The answer for each caller; an empty list counts as `yes` here, since each door words that in its own way. */
  readonly row: Row
  request(target: Target): Request
}

export const at = (row: MatrixRow, changed: Partial<Row> = {}): Row =>
  Object.fromEntries(
    Object.entries({ ...row, ...changed }).map(([of, outcome]) => [of, outcome === 'nothing' ? 'yes' : outcome]),
  ) as Row
