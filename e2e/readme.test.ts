import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { curl } from './curl.ts'
import { type DevProcess, freePorts, startDev } from './dev-process.ts'

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-readme-'))
let dev: DevProcess

beforeAll(async () => {
  dev = startDev(folder, await freePorts())
  await dev.ready
})

afterAll(async () => {
  dev.child.kill('SIGTERM')
  await dev.exited
  rmSync(folder, { recursive: true, force: true })
})

test('the first ten minutes of the README go as it says', async () => {
  const blocks = [...readme.matchAll(/```(sh|json)\n([\s\S]*?)```/g)].map(([, kind, text = '']) => ({ kind, text: text.trim() }))
  const commands = blocks.filter(({ text }) => text.startsWith('curl'))
  expect(commands).toHaveLength(4)
  let key = ''
  for (const { text } of commands) {
    const command = text
      .replace('http://localhost:8081', dev.identity)
      .replace('http://localhost:8082', dev.payments)
      .replace('$KEY', key)
    const answer = await curl(command)
    const shown = blocks[blocks.findIndex((block) => block.text === text) + 1]
    if (shown?.kind === 'json') expect(withoutChance(answer.text)).toBe(withoutChance(shown.text))
    else expect(answer.status, command).toBe(200)
    key = /"key":"([^"]+)"/.exec(answer.text)?.[1] ?? key
  }
})

/** Ids and keys differ from one time to the next. */
function withoutChance(text: string): string {
  return text.trim().replaceAll(/"(id|key)":"[0-9a-f-]+"/g, '"$1":"…"')
}
