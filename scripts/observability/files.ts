/** The files of deploy/observability/ as text, made from the tables. */
import { type Alert, alerts, type Panel, panels } from './table.ts'

const [width, height, perRow] = [12, 8, 2]

const panelJson = ({ title, queries, unit = 'short' }: Panel, n: number) => ({
  id: n + 1,
  title,
  type: 'timeseries',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana puts the chosen source in its place
  datasource: { type: 'prometheus', uid: '${datasource}' },
  gridPos: { x: (n % perRow) * width, y: Math.floor(n / perRow) * height, w: width, h: height },
  fieldConfig: { defaults: { unit }, overrides: [] },
  targets: queries.map(({ expr, legend }, at) => ({ refId: String.fromCharCode(65 + at), expr, legendFormat: legend })),
})

const dashboard = () => ({
  title: 'Parley',
  uid: 'parley',
  schemaVersion: 39,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
  panels: panels.map(panelJson),
})

const made = '# Made by `npm run docs` from scripts/observability/table.ts.\n'

/** YAML takes JSON's way to write a text. */
const text = (value: string): string => JSON.stringify(value)

const rule = ({ name, expr, for: lasting, severity, says, action }: Alert): string => `      - alert: ${name}
        expr: ${text(expr)}
        for: ${lasting}
        labels: { severity: ${severity} }
        annotations:
          summary: ${text(says)}
          action: ${text(action)}
`

const ruleTest = ({ name, fires, severity, says, action }: Alert): string => `  - interval: 1m
    input_series:
${Object.entries(fires.series)
  .map(([series, values]) => `      - series: ${text(series)}\n        values: ${text(values)}\n`)
  .join('')}    alert_rule_test:
      - eval_time: ${fires.after}
        alertname: ${name}
        exp_alerts:
          - exp_labels: ${JSON.stringify({ severity, ...fires.labels })}
            exp_annotations: ${JSON.stringify({ summary: says, action })}
`

export const observabilityFiles = (): Record<string, string> => ({
  'deploy/observability/grafana-dashboard.json': `${JSON.stringify(dashboard(), undefined, 2)}\n`,
  'deploy/observability/alerts.yml': `${made}groups:\n  - name: parley\n    rules:\n${alerts.map(rule).join('')}`,
  'deploy/observability/alerts.test.yml': `${made}# promtool test rules alerts.test.yml\nrule_files: [alerts.yml]\nevaluation_interval: 1m\ntests:\n${alerts.map(ruleTest).join('')}`,
})
