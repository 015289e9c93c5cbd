import { spawn } from 'node:child_process'
import { on } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { type CpuProfile, cutProfile, readProfiles, topFunctions } from './cpu-profile.ts'
import { drawFlame, writeTop } from './flame.ts'
import { startProfiling } from './inspector.ts'
import { inspecting } from './servers.ts'

const frame = (id: number, functionName: string, url: string, ...children: number[]) => ({
  id,
  callFrame: { functionName, url, lineNumber: 9 },
  children,
})

/** 1,000 µs of waiting, 2,000 in `answer`, 3,000 in the `write` that it calls, 4,000 in a `write` that calls itself. */
const profile: CpuProfile = {
  nodes: [
    frame(1, '(root)', '', 2, 3, 6),
    frame(2, '(idle)', ''),
    frame(3, 'answer', 'file:///house/packages/kit/src/serve.ts', 4),
    frame(4, 'write', 'node:net'),
    frame(6, 'write', 'node:net', 7),
    frame(7, 'write', 'node:net', 8),
    frame(8, '', 'file:///house/node_modules/a/node_modules/pg/lib/x.js'),
  ],
  startTime: 100,
  samples: [2, 3, 4, 7, 8, 8],
  timeDeltas: [5, 1_000, 2_000, 3_000, 3_000, 1_000],
}

test('a sample lasts until the next one, waiting is no work, and callers have what they called', () => {
  const everything = readProfiles([profile], '/house')
  expect(everything.total).toBe(9_000)
  const [answer, write] = everything.callees
  expect(answer).toMatchObject({ name: 'answer', place: 'packages/kit/src/serve.ts:10', self: 2_000, total: 5_000 })
  expect(answer?.callees).toMatchObject([{ name: 'write', self: 3_000, total: 3_000 }])
  expect(write).toMatchObject({ name: 'write', place: 'node:net:10', self: 0, total: 4_000 })
})

test('what was before a moment is left out', () => {
  const totalFrom = (moment: number) => readProfiles([cutProfile(profile, moment)], '/house').total
  expect(totalFrom(0)).toBe(9_000)
  // The second sample was taken at 1,105, the third at 3,105.
  expect(totalFrom(1_105)).toBe(9_000)
  expect(totalFrom(1_106)).toBe(7_000)
  expect(totalFrom(3_106)).toBe(4_000)
  expect(totalFrom(1_000_000)).toBe(0)
})

test('profiles of several processes are one', () => {
  const everything = readProfiles([profile, profile], '/house')
  expect(everything.total).toBe(18_000)
  expect(everything.callees).toHaveLength(2)
})

test('the functions with the most time come first, and one that calls itself counts once', () => {
  const top = topFunctions(readProfiles([profile], '/house'), 10)
  expect(top).toEqual([
    { name: 'write', place: 'node:net:10', self: 6_000, total: 7_000 },
    { name: 'answer', place: 'packages/kit/src/serve.ts:10', self: 2_000, total: 5_000 },
    { name: '(anonymous)', place: 'node_modules/pg/lib/x.js:10', self: 1_000, total: 1_000 },
  ])
  expect(writeTop(top, 9_000).split('\n')).toEqual([
    '    self       all  function',
    '  66.7 %    77.8 %  write  node:net:10',
    '  22.2 %    55.6 %  answer  packages/kit/src/serve.ts:10',
    '  11.1 %    11.1 %  (anonymous)  node_modules/pg/lib/x.js:10',
  ])
  expect(topFunctions(readProfiles([profile], '/house'), 1)).toHaveLength(1)
})

test('a flame graph has a box for every frame, as wide as it took long, on top of its caller', () => {
  const svg = drawFlame(readProfiles([profile], '/house'), 'a <title>')
  expect(svg).toMatch(/^<svg xmlns=/)
  expect(svg).toContain('<title id="title">a &#60;title&#62;</title>')
  // Nothing is fetched, and nothing runs.
  expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|href/)
  const boxes = [...svg.matchAll(/<g><title>(.*?)<\/title><rect class="frame" x="(.*?)" y="(.*?)" width="(.*?)"/g)].map(
    ([, about = '', x, y, width]) => ({ about, x: Number(x), y: Number(y), width: Number(width) }),
  )
  expect(boxes).toHaveLength(6)
  const [all, answer, inner, write] = boxes
  expect(answer?.about).toBe('answer packages/kit/src/serve.ts:10: 55.6 % in all, 22.2 % by itself')
  expect((answer?.width ?? 0) / (all?.width ?? 1)).toBeCloseTo(5 / 9, 3)
  expect(answer?.y).toBe((all?.y ?? 0) - 17)
  expect(inner?.y).toBe((answer?.y ?? 0) - 17)
  expect(write?.x).toBeCloseTo((answer?.x ?? 0) + (answer?.width ?? 0), 1)
})

test('what nobody could see is not drawn, and nothing at all makes a graph all the same', () => {
  const lopsided = { ...profile, samples: [3, 6, 6], timeDeltas: [0, 1, 100_000] }
  const boxes = drawFlame(readProfiles([lopsided], '/house'), 'x').match(/class="frame"/g)
  expect(boxes).toHaveLength(2)
  expect(drawFlame(readProfiles([{ nodes: [], startTime: 0 }], '/house'), 'x')).toContain('</svg>')
})

test('a process is profiled from outside, and what it is busy with is found', async () => {
  const source = `let sum = 0
    function spinning() { for (let i = 0; i < 1e5; i++) sum += Math.sqrt(i) }
    function work() {
      spinning()
      if (process.cpuUsage().user < 400_000) setImmediate(work)
      else console.error('done')
    }
    process.stdin.once('data', work)`
  const child = spawn(process.execPath, [...inspecting, '-e', source], { stdio: ['pipe', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = on(createInterface(child.stderr), 'line')
  const until = async (start: string): Promise<string> => {
    const [line] = (await said.next()).value as [string]
    return line.startsWith(start) ? line.slice(start.length) : until(start)
  }
  const profiling = await startProfiling(await until('Debugger listening on '), 500)
  const begun = Number(process.hrtime.bigint() / 1000n)
  child.stdin.write('go')
  await until('done')
  const everything = readProfiles([cutProfile(await profiling.stop(), begun)], '/')
  expect(everything.total).toBeGreaterThan(10_000)
  const spinning = topFunctions(everything, 100).find(({ name }) => name === 'spinning')
  // What V8 itself takes beside it depends on how busy the machine is.
  const ours = topFunctions(everything, 100).filter(({ name }) => !name.startsWith('('))
  expect(spinning?.self).toBe(Math.max(...ours.map(({ self }) => self)))
})
