import { expect, test } from 'vitest'
import { github } from './github.ts'
import { beginAuthorization, type Configured } from './oauth.ts'

const configured: Configured = {
  provider: { ...github, handsOn: { hint: 'login' } },
  clientId: 'an-app',
  secret: 'its secret',
  redirectUri: 'https://auth.site.test/callback',
}

function handedOn(more: Record<string, string>) {
  const { searchParams } = new URL(beginAuthorization(configured, { state: 'a-state', extraScopes: [], more }).url)
  return Object.fromEntries(searchParams)
}

test('what a caller adds is handed on, under the name that the provider knows it by', () => {
  expect(handedOn({ hint: 'ann', prompt: 'consent' })).toMatchObject({ login: 'ann', prompt: 'consent' })
})

test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])('a parameter may be called %s', (name) => {
  expect(handedOn({ [name]: 'x' })).toMatchObject({ [name]: 'x', state: 'a-state' })
})

test('what a caller must not decide is not handed on, however it is written', () => {
  const told = handedOn({ STATE: 'theirs', client_id: 'theirs', Redirect_Uri: 'theirs' })
  expect(Object.values(told)).not.toContain('theirs')
  expect(told).toMatchObject({ state: 'a-state', client_id: 'an-app', redirect_uri: configured.redirectUri })
})
