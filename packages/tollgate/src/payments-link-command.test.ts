import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scanLetters, scanPicture } from '@tollgate/payments/rules/qr-scanner'
import { plantMerchant, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Mistake } from './mistake.ts'
import { linkCommand } from './payments-link-command.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
const folder = mkdtempSync(join(tmpdir(), 'tollgate-link-'))
beforeAll(async () => {
  service = await startPayments({ PAY_POS_URL: 'https://pos.example.com' })
  merchant = await plantMerchant(service)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await service.stop()
})

/** What the command prints, on a screen or into a pipe. */
async function run(words: readonly string[], screen?: { columns: number }): Promise<string> {
  const said = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    const { config, db } = service.app
    await linkCommand((work) => work({ config, db }), screen).run(words)
    return said.mock.calls.flat().join('\n')
  } finally {
    said.mockRestore()
  }
}

test('the address comes first, then its QR code', async () => {
  const words = ['--value', '12.50', '--currency=EUR', '--reference', 'Order 7', '--text', 'Tea & toast', '--recurring']
  const [address = '', empty, ...code] = (await run([merchant.id, ...words, '--locale', 'da'])).split('\n')
  expect(address).toBe(
    `https://pos.example.com/?key=${merchant.key}&test=1&currency=EUR&value=12.5&reference=Order+7&text=Tea+%26+toast&locale=da&recurring=y`,
  )
  expect(empty).toBe('')
  expect(scanLetters(code.join('\n'))).toBe(address)
})

test('the public key names a merchant like its id, and nothing else has to be said', async () => {
  const link = `https://pos.example.com/?key=${merchant.key}&test=1`
  expect((await run([merchant.key])).split('\n')[0]).toBe(link)
  expect((await run([merchant.id])).split('\n')[0]).toBe(link)
  const live = await plantMerchant(service, { test: false })
  expect((await run([live.key])).split('\n')[0]).toBe(`https://pos.example.com/?key=${live.key}`)
})

test('a screen shows the code black on white, whatever its colours', async () => {
  const [address = '', , ...lines] = (await run([merchant.id], { columns: 80 })).split('\n')
  const [colours, plain] = ['\x1b[97;40m', '\x1b[0m']
  for (const line of lines) expect([line.slice(0, colours.length), line.slice(-plain.length)]).toEqual([colours, plain])
  expect(scanLetters(lines.map((line) => line.slice(colours.length, -plain.length)).join('\n'))).toBe(address)
})

test('a screen that is too narrow is told so, and the address is there all the same', async () => {
  const said = await run([merchant.id], { columns: 40 })
  expect(said).toMatch(/^https:\S+\n\nThe QR code needs \d\d columns here; --svg FILE writes it as a picture\.$/)
})

test('the code is written to a file where one is named', async () => {
  const file = join(folder, 'code.svg')
  const said = await run([merchant.id, '--value', '3', '--svg', file])
  expect(said).toMatch(new RegExp(`\nThe QR code is in ${file}\\.$`))
  const picture = readFileSync(file, 'utf8')
  expect(scanPicture(picture)).toBe(said.split('\n')[0])
  expect(picture).toContain('<title>Pay https://shop.test: EUR 3</title>')
})

test.each([
  [[], /^Name one merchant: tollgate payments link MERCHANT/],
  [['ID', 'ID'], /^Name one merchant: /],
  [['0123456789abcdef01234567'], /^There is no merchant with this id: 0123456789abcdef01234567\.$/],
  [['shop'], /^There is no merchant with this public key: shop\.$/],
  [['ID', '--value', '12,50'], /^--value: Must be an amount in major units with a point before its decimals, such as 12\.50\.$/],
  [['ID', '--value=-5'], /^--value: Must be an amount/],
  [['ID', '--value'], /^--value lacks its value\.$/],
  [['ID', '--text='], /^--text lacks its value\.$/],
  [['ID', '--currency', 'euro'], /^--currency: Must be the code of a currency/],
  [['ID', '--redirect', 'javascript:alert(1)'], /^--redirect: Must be a web address/],
  [['ID', '--locale', 'Danish'], /^--locale: Must be a language/],
  [['ID', '--text', 'x'.repeat(2000)], /^--text: Must be at most 1024 characters long\.$/],
  [['ID', '--recurring=y'], /^--recurring takes no value\.$/],
  [['ID', '--value', '1', '--value', '2'], /^--value is there twice\.$/],
  [['ID', '--amount', '5'], /^link knows --value, .*, --recurring, not --amount\.$/],
  [['ID', '-x'], /, not -x\.$/],
  [['ID', '--svg', '/nowhere/at/all/code.svg'], /^\/nowhere\/at\/all\/code\.svg cannot be written: /],
])('%j is a mistake, told in a sentence', async (words, sentence) => {
  const mistake = await run(words.map((word) => (word === 'ID' ? merchant.id : word))).catch((problem: unknown) => problem)
  expect(mistake).toBeInstanceOf(Mistake)
  expect((mistake as Mistake).message).toMatch(sentence)
})
