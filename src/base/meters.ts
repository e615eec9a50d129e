/** Counters, gauges and histograms, and the text in which Prometheus reads them. */

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
export const textType = 'text/plain; version=0.0.4; charset=utf-8'

interface Naming<Label extends string> {
  readonly name: string
  readonly help: string
  /** The labels that tell the values of one name apart. */
  readonly labels?: readonly Label[]
}

/** One value: of a counter or a gauge. */
class Value {
  value = 0

  inc(by = 1): void {
    this.value += by
  }

  set(value: number): void {
    this.value = value
  }

  get used(): boolean {
    return this.value !== 0
  }

  lines(name: string, labels: string): string[] {
    return [`${name}${braced(labels)} ${this.value}`]
  }
}

/** How many values were at most so large, for each of some bounds. */
class Distribution {
  readonly #bounds: readonly number[]
  /** For each bound, and one more for what is above all of them. */
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    let at = 0
    while (at < this.#bounds.length && value > (this.#bounds[at] ?? 0)) at++
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
  }

  get used(): boolean {
    return this.#counts.some((count) => count > 0)
  }

  lines(name: string, labels: string): string[] {
    let count = 0
    const buckets = [...this.#bounds, '+Inf'].map((bound, at) => {
      count += this.#counts[at] ?? 0
      return `${name}_bucket${braced(joined(`le="${bound}"`, labels))} ${count}`
    })
    return [...buckets, `${name}_sum${braced(labels)} ${this.#sum}`, `${name}_count${braced(labels)} ${count}`]
  }
}

/** All values of one name. */
class Family<One extends Value | Distribution, Label extends string> {
  readonly #type: string
  readonly #naming: Naming<Label>
  readonly #create: () => One
  readonly #members = new Map<string, One>()

  constructor(type: string, naming: Naming<Label>, create: () => One) {
    this.#type = type
    this.#naming = naming
    this.#create = create
  }

  /** The one with these values of the labels, in the order of their names; looked up once, then kept by who counts. */
  labels(...values: string[]): One {
    const key = (this.#naming.labels ?? []).map((label, at) => `${label}="${escaped(values[at] ?? '')}"`).join(',')
    const known = this.#members.get(key)
    if (known !== undefined) return known
    const made = this.#create()
    this.#members.set(key, made)
    return made
  }

  /** Forgets all values: for gauges whose labels come and go. */
  clear(): void {
    this.#members.clear()
  }

  /** Of those with labels, the ones that have counted: most tools are never called. */
  text(): string {
    const { name, help, labels = [] } = this.#naming
    const members = [...this.#members].filter(([, member]) => labels.length === 0 || member.used)
    const lines = members.flatMap(([key, member]) => member.lines(name, key))
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${this.#type}`, ...lines, ''].join('\n')
  }
}

/** Everything that is measured, in the order in which it was named. */
export class Meters {
  readonly #families: { text(): string }[] = []
  readonly #refreshers: (() => void | Promise<void>)[] = []

  counter<Label extends string>(naming: Naming<Label>): Family<Value, Label> {
    return this.#add(new Family('counter', naming, () => new Value()))
  }

  gauge<Label extends string>(naming: Naming<Label>): Family<Value, Label> {
    return this.#add(new Family('gauge', naming, () => new Value()))
  }

  histogram<Label extends string>(naming: Naming<Label>, bounds: readonly number[]): Family<Distribution, Label> {
    return this.#add(new Family('histogram', naming, () => new Distribution(bounds)))
  }

  /** Called before the text is made. */
  onRead(refresh: () => void | Promise<void>): void {
    this.#refreshers.push(refresh)
  }

  async text(): Promise<string> {
    for (const refresh of this.#refreshers) await refresh()
    return this.#families.map((family) => family.text()).join('\n')
  }

  #add<T extends { text(): string }>(family: T): T {
    this.#families.push(family)
    return family
  }
}

const joined = (...labels: string[]): string => labels.filter((label) => label !== '').join(',')
const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`)
const escaped = (value: string): string => value.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`))
