/** Settings of the metrics. */
import { flag, number, optional, visible } from './kinds.ts'

export const metricsSettings = {
  METRICS_TOKEN: optional(visible).secret(
    'Further token for `/metrics`, and for nothing else, sent as `Authorization: Bearer …`: a scraper then needs no token of the operator.',
  ),
  METRICS_BY_PROJECT: flag(false).says(
    'Whether `/metrics` also has messages, unread mail, leases and attachment bytes by project, with its slug as a label: of the 500 projects with the most messages.',
  ),
  METRICS_PORT: number(0, { min: 0, max: 65535 }).says(
    'Further port on which `/metrics` is served, and nothing else; 0 means none. It asks for METRICS_TOKEN if that is set, and for no other credentials.',
  ),
}
