import { plantMerchant, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Mistake } from './mistake.ts'
import { merchantCommand } from './payments-merchant-command.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
beforeAll(async () => {
  service = await startPayments()
  merchant = await plantMerchant(service)
})
afterAll(() => service.stop())

/** What the command prints. */
async function run(...words: string[]): Promise<string> {
  const said = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    const { config, db } = service.app
    await merchantCommand((work) => work({ config, db }), service.now).run(words)
    return said.mock.calls.flat().join('\n')
  } finally {
    said.mockRestore()
  }
}

test('a merchant is shown and stays as it is', async () => {
  expect(await run(merchant.id)).toBe(
    [
      `Merchant ${merchant.id}, for tests`,
      '  name                  (none)',
      '  balance               EUR 0',
      '  rate                  0.025',
      '  flat                  EUR 0.25',
      '  dispute               EUR 15',
      '  payouts               daily',
      '  tds                   attempt',
      '  plans                 record',
      '  accent                (none)',
      '  can-charge-card       yes',
      '  can-save-card         yes',
      '  can-transfer-to-card  no',
      '  can-capture           yes',
      '  can-refund            yes',
      '  can-void              yes',
    ].join('\n'),
  )
  expect(await service.app.db`select from pay.prices where merchant_id = ${merchant.id}`).toHaveLength(1)
})

test('what is named changes, and the merchant sees it', async () => {
  const { id, authorization } = await plantMerchant(service)
  service.now.advance(1)
  const words = [
    '--rate',
    '0.014',
    '--flat=DKK 1.5',
    id,
    '--dispute',
    'EUR 0',
    '--payouts',
    'never',
    '--tds',
    'full',
    '--can-capture',
    'no',
  ]
  const shown = await run(...words, '--can-transfer-to-card=yes', '--plans', 'capture', '--accent=#0B6E4F')
  for (const line of [
    'rate +0.014',
    'flat +DKK 1.5',
    'dispute +EUR 0',
    'payouts +never',
    'tds +full',
    'plans +capture',
    'accent +#0b6e4f',
    'can-capture +no',
    'can-void +yes',
  ])
    expect(shown).toMatch(new RegExp(`^ {2}${line}$`, 'm'))
  expect((await service.call(`GET /merchants/${id}`, { headers: { authorization } })).json()).toMatchObject({
    merchant: {
      pricing: { rate: 0.014, flat: { currency: 'DKK', amount: 150 }, dispute: { currency: 'EUR', amount: 0 } },
      claim: { canCapture: false, canTransferToCard: true, canRefund: true },
      tds: { mode: 'full' },
      plans: 'capture',
      accent: '#0b6e4f',
    },
  })
  expect(await service.app.db`select payouts, plans_since as since from pay.merchants where id = ${id}`).toEqual([
    { payouts: 'never', since: service.now() },
  ])
  expect(await run(id, '--accent', 'none')).toMatch(/^ {2}accent +\(none\)$/m)
})

test.each([
  [[], /^Name one merchant: /],
  [['ID', 'ID'], /^Name one merchant: /],
  [['--rate', '0.1'], /^Name one merchant: /],
  [['shop'], /^ID must be 24 hex digits, not "shop"\.$/],
  [['0123456789abcdef01234567'], /^There is no merchant 0123456789abcdef01234567\.$/],
  [['ID', '--rate', '2.5'], /^--rate must be a fraction below 1 .*, not "2\.5"\.$/],
  [['ID', '--rate=-0.1'], /^--rate must be a fraction/],
  [['ID', '--flat', '0.25'], /^--flat must be a currency among EUR, .*, not "0\.25"\.$/],
  [['ID', '--dispute', 'JPY 15'], /^--dispute must be a currency among/],
  [['ID', '--payouts', 'hourly'], /^--payouts must be one of daily, weekly, monthly, never, not "hourly"\.$/],
  [['ID', '--tds', 'none'], /^--tds must be one of attempt, full, not "none"\.$/],
  [['ID', '--plans', 'execute'], /^--plans must be one of record, authorize, capture, not "execute"\.$/],
  [['ID', '--accent', 'green'], /^--accent must be a colour such as #0b6e4f, or none, not "green"\.$/],
  [['ID', '--can-void', 'perhaps'], /^--can-void must be one of yes, no, not "perhaps"\.$/],
  [['ID', '--can-void'], /^--can-void lacks its value\.$/],
  [['ID', '--rate', '0.1', '--rate', '0.2'], /^--rate is there twice\.$/],
  [['ID', '--balance', '5'], /^merchant knows --rate, .*, --can-void, not --balance\.$/],
  [['ID', '--constructor', '5'], /, not --constructor\.$/],
  [['ID', '-x'], /, not -x\.$/],
])('%j is a mistake, told in a sentence, and nothing changes', async (words, sentence) => {
  const before = await run(merchant.id)
  const mistake = await run(...words.map((word) => (word === 'ID' ? merchant.id : word))).catch((problem: unknown) => problem)
  expect(mistake).toBeInstanceOf(Mistake)
  expect((mistake as Mistake).message).toMatch(sentence)
  expect(await run(merchant.id)).toBe(before)
})
