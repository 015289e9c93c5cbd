/** What V8 writes: where in the tree of calls it was at every sample, and how long after the one before. */
export type CpuProfile = {
  nodes: readonly {
    id: number
    callFrame: { functionName: string; url: string; lineNumber: number }
    children?: readonly number[]
  }[]
  /** Microseconds, by the clock that `process.hrtime` reads. */
  startTime: number
  samples?: readonly number[]
  /** Microseconds; the first since the start. */
  timeDeltas?: readonly number[]
}

/** What was seen from a moment on. */
export function cutProfile(profile: CpuProfile, from: number): CpuProfile {
  const { startTime, samples = [], timeDeltas = [] } = profile
  let [moment, first] = [startTime, 0]
  for (; first < samples.length; first++) {
    moment += timeDeltas[first] ?? 0
    if (moment >= from) break
  }
  return {
    ...profile,
    startTime: from,
    samples: samples.slice(first),
    timeDeltas: [moment - from, ...timeDeltas.slice(first + 1)],
  }
}

/** A function where it was called from, with the time that was spent in it and in what it called, in microseconds. */
export type Frame = { name: string; place: string; self: number; total: number; callees: Frame[] }

/** V8's own word for waiting, which is no work. */
const idle = '(idle)'

/** All that processes did while they were profiled, as one tree whose root is everything; waiting is left out. */
export function readProfiles(profiles: readonly CpuProfile[], root: string): Frame {
  const everything: Frame = { name: 'all', place: '', self: 0, total: 0, callees: [] }
  for (const profile of profiles) addProfile(everything, profile, root)
  sumUp(everything)
  return everything
}

function addProfile(everything: Frame, { nodes, samples = [], timeDeltas = [] }: CpuProfile, root: string) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const selfOf = new Map<number, number>()
  // A sample lasts until the next one.
  for (const [at, id] of samples.entries()) selfOf.set(id, (selfOf.get(id) ?? 0) + Math.max(0, timeDeltas[at + 1] ?? 0))

  const add = (id: number, caller: Frame) => {
    const node = byId.get(id)
    if (!node || node.callFrame.functionName === idle) return
    const frame = calleeOf(caller, node.callFrame, root)
    frame.self += selfOf.get(id) ?? 0
    for (const child of node.children ?? []) add(child, frame)
  }
  for (const child of nodes[0]?.children ?? []) add(child, everything)
}

function calleeOf({ callees }: Frame, { functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame'], root: string) {
  const name = functionName === '' ? '(anonymous)' : functionName
  const place = url === '' ? '' : `${shorten(url, root)}:${lineNumber + 1}`
  const there = callees.find((each) => each.name === name && each.place === place)
  if (there) return there
  const frame: Frame = { name, place, self: 0, total: 0, callees: [] }
  callees.push(frame)
  return frame
}

/** From where the project stands, and from the last package on. */
function shorten(url: string, root: string): string {
  const path = url.replace(/^file:\/\//, '').replace(`${root}/`, '')
  return path.slice(path.lastIndexOf('node_modules/') < 0 ? 0 : path.lastIndexOf('node_modules/'))
}

function sumUp(frame: Frame): number {
  frame.total = frame.self + frame.callees.reduce((sum, callee) => sum + sumUp(callee), 0)
  return frame.total
}

/** One function, wherever it was called from. */
export type FunctionTime = { name: string; place: string; self: number; total: number }

/** Those that had the most time for themselves, the first first. What a function spends in itself by way of others counts once. */
export function topFunctions(everything: Frame, count: number): FunctionTime[] {
  const functions = new Map<string, FunctionTime>()
  const visit = (frame: Frame, above: ReadonlySet<FunctionTime>) => {
    const key = `${frame.name} ${frame.place}`
    const found = functions.get(key) ?? { name: frame.name, place: frame.place, self: 0, total: 0 }
    functions.set(key, found)
    found.self += frame.self
    if (!above.has(found)) found.total += frame.total
    const inside = new Set(above).add(found)
    for (const callee of frame.callees) visit(callee, inside)
  }
  for (const callee of everything.callees) visit(callee, new Set())
  return [...functions.values()].toSorted((one, other) => other.self - one.self).slice(0, count)
}
