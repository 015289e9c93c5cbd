import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'

async function fuzz(...words: string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'fuzz.ts'), ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, complaints] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const [code] = await once(child, 'close')
  return { code, out, complaints }
}

test('some requests by command: both services are asked, and the figures are told', async () => {
  const { code, out, complaints } = await fuzz('--requests', '800', '--seed', '5')
  expect([code, out], complaints).toEqual([0, expect.stringMatching(/^seed 5\n/)])
  expect(out).toMatch(/^identity: 400 requests, \d+ answers in \d+ s, \d+\/s\n {2}by status {2}200: \d+/m)
  expect(out).toMatch(/^payments: 400 requests, \d+ answers in \d+ s, \d+\/s\n {2}by status {2}200: \d+/m)
  expect(out.match(/^ {2}held after collection {2}\d+\.\d MB at first, \d+\.\d MB in the third quarter, /gm)).toHaveLength(2)
}, 120_000)

test('words that make no sense are told so, and nothing is started', async () => {
  const { code, out, complaints } = await fuzz('--service', 'both')
  expect([code, out, complaints]).toEqual([1, '', 'fuzz: --service must be identity or payments, not "both"\n'])
})
