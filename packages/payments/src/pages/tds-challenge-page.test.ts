import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type TdsChallenge, tdsChallengePage } from './tds-challenge-page.ts'

const challenge: TdsChallenge = {
  merchant: 'Coffee & John',
  amountText: 'EUR 12.50',
  cardText: '•••• 0000',
  approve: ['yes'],
  fail: ['no'],
}

function dataOf(page: string) {
  return JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '')
}

test('the payer is told who wants how much from which card, and that none of it is real', () => {
  const { page } = tdsChallengePage(challenge)
  for (const text of ['Test bank', 'Simulation', 'Coffee &#38; John', 'EUR 12.50', '•••• 0000']) expect(page).toContain(text)
  expect(dataOf(page)).toMatchObject({ approve: { hints: ['yes'] }, fail: { hints: ['no'] } })
})

test('where nothing is paid there is no amount', () => {
  const { amountText: _, ...rest } = challenge
  expect(tdsChallengePage(rest).page).not.toContain('Amount')
  expect(tdsChallengePage(challenge).page).toContain('Amount')
})

test('the policy allows the script and the style of the page and nothing else', () => {
  const { page, policy } = tdsChallengePage(challenge)
  const hashOf = (element: string) => {
    const text = new RegExp(`<${element}>(.*?)</${element}>`, 's').exec(page)?.[1] ?? ''
    return createHash('sha256').update(text).digest('base64')
  }
  expect(policy).toBe(
    `default-src 'none'; script-src 'sha256-${hashOf('script')}'; style-src 'sha256-${hashOf('style')}'; base-uri 'none'; form-action 'none'`,
  )
})

test('the policy is the same whatever stands in the page', () => {
  expect(tdsChallengePage({ ...challenge, merchant: 'Another', language: 'de' }).policy).toBe(tdsChallengePage(challenge).policy)
})

const hostile = `"'><script>alert(1)</script><!--</style></title>`

test('nothing that is told becomes part of the page', () => {
  const plain = tdsChallengePage(challenge).page
  const { page } = tdsChallengePage({
    merchant: hostile,
    amountText: hostile,
    cardText: hostile,
    approve: [hostile],
    fail: [`</script>${hostile}`],
    language: hostile,
  })
  for (const part of ['<', '<script', '</script', '</style', '</title'])
    expect({ part, count: page.split(part).length }).toEqual({ part, count: plain.split(part).length })
  expect(page).not.toContain('<!--')
  expect(dataOf(page).approve.hints).toEqual([hostile])
})

test('a name of many lines does not move the end of the first, which stands where a statement may', () => {
  const { page } = tdsChallengePage({ ...challenge, merchant: 'a\nb', language: 'da' })
  expect(page.split('\n')[0]).toMatch(/^<!doctype html><html lang="da">.*<script>$/)
})
