/** SVG is kept only where it can do nothing but draw: every tag and attribute of it must be known to be harmless. */

const elements: ReadonlySet<string> = new Set(
  `svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan textPath
  linearGradient radialGradient stop clipPath mask pattern marker filter feGaussianBlur feOffset feMerge feMergeNode
  feFlood feComposite feColorMatrix feBlend feDropShadow metadata`.split(/\s+/),
)

/** A tag with quoted attributes, a comment, or the declaration at the beginning. Anything else that begins with `<` is refused. */
const markup =
  /<!--[^<>]*-->|<\?xml [^<>?]*\?>|<\/[A-Za-z]+\s*>|<([A-Za-z]+)((?:\s+[A-Za-z_][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?>/y
const attributes = /([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/** Why an SVG is not kept, or undefined if it only draws. Continues the sentence `The attachment …`. */
export function svgFault(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  if (!bytes.equals(Buffer.from(bytes.toString('utf8')))) return 'is no SVG in UTF-8'
  if (!/^\s*(?:<\?xml [^<>?]*\?>\s*)?(?:<!--[^<>]*-->\s*)*<svg[\s>]/.test(text)) return 'is no SVG'
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', markup.lastIndex)) {
    markup.lastIndex = at
    const tag = markup.exec(text)
    if (tag === null) return 'is an SVG with markup that is not plain drawing'
    const [, name, given = ''] = tag
    if (name === undefined) continue
    if (!elements.has(name)) return `is an SVG with <${name.slice(0, 40)}>, which is not plain drawing`
    for (const [, key = '', double, single = ''] of given.matchAll(attributes))
      if (!isHarmless(key, double ?? single))
        return `is an SVG whose attribute ${key.slice(0, 40)} may run or load something`
  }
  return undefined
}

/** No handlers, no addresses but places in the same picture, no escapes that could hide one. */
function isHarmless(key: string, value: string): boolean {
  if (/^on/i.test(key) || /&(?!(?:amp|lt|gt|quot|apos);)/.test(value)) return false
  if (/^(?:xmlns(?::\w+)?|version|baseProfile|xml:space|xml:lang)$/.test(key)) return !/script|javascript/i.test(value)
  if (/(?:^|:)(?:href|src|base)$/i.test(key)) return /^\s*#[\w.-]*\s*$/.test(value)
  if (/[\\@]|:\s*\/\/|javascript|expression\s*\(|data:/i.test(value)) return false
  return !/url\s*\(/i.test(value.replace(/url\(\s*['"]?#[\w.-]+['"]?\s*\)/gi, ''))
}
