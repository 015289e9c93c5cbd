/** The dotted paths of what is not the same in `given` as in `kept`; what `given` does not name is not looked at. */
export function changedPaths(given: object, kept: object, place = ''): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const there: unknown = Object.hasOwn(kept, name) ? kept[name as keyof typeof kept] : undefined
    const path = `${place}${name}`
    if (isObject(value) && isObject(there)) return changedPaths(value, there, `${path}.`)
    return value === there ? [] : [path]
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
