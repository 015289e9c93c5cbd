import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { curl } from './curl.ts'
import { type DevProcess, freePorts, startDev } from './dev-process.ts'

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

test.each([
  ['README.md', 6],
  ['docs/guides/accounts.md', 10],
])('every command of %s goes as it says', async (document, count) => {
  const blocks = blocksOf(document)
  const commands = blocks.filter(({ text }) => text.startsWith('curl'))
  expect(commands).toHaveLength(count)
  const reader = await newReader(document)
  for (const { text } of commands) {
    const answer = await curl(await reader.fillIn(text))
    const shown = blocks[blocks.findIndex((block) => block.text === text) + 1]
    if (shown?.kind === 'json') expect(withoutChance(answer.text)).toBe(withoutChance(shown.text))
    else
      expect([answer.status, text, answer.text]).toEqual([expect.toSatisfy((status: number) => status < 300), text, answer.text])
    reader.remember(answer.text)
  }
})

test('every page that the README tells to open is there', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  const pages = [...readme.matchAll(/<http:\/\/localhost:8080([^>]*)>/g)].map(([, path]) => path)
  expect(pages).toEqual(['', '/inbox', '/shop'])
  const answers = await Promise.all(pages.map((path) => fetch(`${dev.welcome}${path}`)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
})

function blocksOf(document: string) {
  const text = readFileSync(join(import.meta.dirname, '..', document), 'utf8')
  return [...text.matchAll(/```(sh|json)\n([\s\S]*?)```/g)].map(([, kind, block = '']) => ({ kind, text: block.trim() }))
}

/** Somebody who does what a document says, with their own values where it can only give examples. */
async function newReader(document: string) {
  const values = { KEY: '', ACCESS_TOKEN: '', REFRESH_TOKEN: '', SERVICE_ROLE_KEY: await serviceRoleKey() }
  const address = document === 'README.md' ? 'ann@example.com' : 'other@example.com'
  return {
    async fillIn(command: string): Promise<string> {
      let filled = command
        .replace('http://localhost:8081', dev.identity)
        .replace('http://localhost:8082', dev.payments)
        .replace('ann@example.com', address)
      for (const [name, value] of Object.entries(values)) filled = filled.replace(`$${name}`, value)
      return filled.includes('"123456"') ? filled.replace('"123456"', `"${await codeFor(address)}"`) : filled
    },
    remember(answer: string) {
      values.KEY = /"key":"([^"]+)"/.exec(answer)?.[1] ?? values.KEY
      values.ACCESS_TOKEN = /"access_token":"([^"]+)"/.exec(answer)?.[1] ?? values.ACCESS_TOKEN
      values.REFRESH_TOKEN = /"refresh_token":"([^"]+)"/.exec(answer)?.[1] ?? values.REFRESH_TOKEN
    },
  }
}

/** As a person reads it in the inbox. */
async function codeFor(address: string): Promise<string> {
  let code: string | undefined
  await expect
    .poll(async () => {
      const { messages } = (await (await fetch(`${dev.welcome}/inbox.json`)).json()) as {
        messages: { to: string[]; code?: string }[]
      }
      code = messages.find(({ to }) => to.includes(address))?.code
      return code
    })
    .toMatch(/^\d{6}$/)
  return code ?? ''
}

/** As the welcome page shows it. */
async function serviceRoleKey(): Promise<string> {
  const page = await (await fetch(dev.welcome)).text()
  const keys = [...new Set(page.match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g))]
  return (
    keys.find((key) =>
      Buffer.from(key.split('.')[1] ?? '', 'base64url')
        .toString()
        .includes('service_role'),
    ) ?? ''
  )
}

/** Ids and keys differ from one time to the next. */
function withoutChance(text: string): string {
  return text.trim().replaceAll(/"(id|key)":"[0-9a-f-]+"/g, '"$1":"…"')
}
