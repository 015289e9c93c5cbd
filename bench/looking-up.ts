import { firstToken } from './accounts.ts'
import { askFor } from './http.ts'
import { inTurns, type Requests, requestText } from './requests.ts'
import type { Server } from './servers.ts'

/** So many of the accounts, the last ones, only ever look themselves up. */
const lookers = 100

/** Requests of people who have signed in just now. */
export async function lookingUp({ port }: Server, count: number): Promise<Requests> {
  const accounts = Array.from({ length: lookers }, (_, index) => count - index)
  const tokens = await Promise.all(accounts.map((account) => signIn(port, account)))
  const headers = tokens.map((token) => ({ Authorization: `Bearer ${token}` }))
  return inTurns(...headers.map((each) => requestText('GET', '/user', { headers: each })))
}

async function signIn(port: number, account: number): Promise<string> {
  const json = { refresh_token: firstToken(account) }
  const session = await askFor<{ access_token: string }>(port, 'POST', '/token?grant_type=refresh_token', { json })
  return session.access_token
}
