import { createHash, randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@tollgate/kit/db'
import type { Client } from './payments-kill.ts'

/** Somebody who has joined, and every refresh token that they were handed, oldest first. */
export type Person = { email: string; id: string; sessionId: string; tokens: string[]; tries: number }

type Told = { access_token: string; refresh_token: string; user: { id: string } }

/** What was answered and should not have been. */
type Refusals = string[]

/** Asks until there is an answer that is one. */
async function insist({ post }: Client, path: string, body: object) {
  for (let tries = 1; ; tries++) {
    const answer = await post(path, body)
    if (answer && answer.status < 500) return { tries, ...answer }
    await sleep(randomInt(20, 200))
  }
}

/** Whoever lost the answer to their sign-up has an account all the same, and signs in. */
async function join(client: Client): Promise<Person | { refusal: string }> {
  const account = { email: `${randomUUID()}@people.test`, password: randomUUID() }
  const joined = await insist(client, '/signup', account)
  const known = joined.status === 422 && joined.tries > 1
  const session = known ? await insist(client, '/token?grant_type=password', account) : joined
  if (session.status !== 200) return { refusal: `${account.email}: ${session.status} ${session.text}` }
  const { access_token: access, refresh_token: token, user }: Told = JSON.parse(session.text)
  const { session_id: sessionId } = JSON.parse(String(Buffer.from(access.split('.')[1] ?? '', 'base64url')))
  return { email: account.email, id: user.id, sessionId, tokens: [token], tries: joined.tries }
}

/** Joins, stays for some refreshes, and leaves room for the next. */
async function visit(client: Client, people: Person[], refusals: Refusals, isOpen: () => boolean): Promise<void> {
  const person = await join(client)
  if ('refusal' in person) {
    refusals.push(person.refusal)
    return
  }
  people.push(person)
  for (let refreshes = 0; refreshes < 10 && isOpen(); refreshes++) {
    const answer = await insist(client, '/token?grant_type=refresh_token', { refresh_token: person.tokens.at(-1) })
    person.tries = Math.max(person.tries, answer.tries)
    if (answer.status !== 200) {
      refusals.push(`${person.email}: ${answer.status} ${answer.text}`)
      return
    }
    person.tokens.push(JSON.parse(answer.text).refresh_token)
  }
}

/** Everybody who came until it closed, so many at a time. */
export async function visiting(client: Client, { visitors, isOpen }: { visitors: number; isOpen(): boolean }) {
  const people: Person[] = []
  const refusals: Refusals = []
  const visitor = async () => {
    while (isOpen()) await visit(client, people, refusals, isOpen)
  }
  await Promise.all(Array.from({ length: visitors }, visitor))
  return { people, refusals }
}

/** Holds what people were told against what is in the tables, and asks for every session once more; whatever is in a list is wrong. */
export async function judgePeople(sql: Sql, client: Client, people: readonly Person[]) {
  type Kept = { sessionId: string; email: string; userId: string; tokens: string[]; active: string[] }
  const rows = await sql<Kept>`
    select sessions.id::text as "sessionId", users.email, users.id::text as "userId", array_agg(token::text) as tokens,
      coalesce(array_agg(token::text) filter (where not revoked), '{}') as active
    from auth.sessions join auth.users on users.id = sessions.user_id join auth.refresh_tokens on refresh_tokens.session_id = sessions.id
    where sessions.id = any(${people.map(({ sessionId }) => sessionId)}::uuid[])
    group by sessions.id, users.email, users.id`
  const kept = new Map(rows.map((row) => [row.sessionId, row]))
  const lost: string[] = []
  const doubled: string[] = []
  const ended: string[] = []
  for (const { email, id, sessionId, tokens } of people) {
    const row = kept.get(sessionId)
    const hashes = tokens.map((token) => createHash('sha256').update(token).digest('base64url'))
    const there = new Set(row?.email === email && row.userId === id ? row.tokens : [])
    lost.push(...hashes.filter((hash) => !there.has(hash)).map((hash) => `${email}: ${hash}`))
    if (there.size > hashes.length || row?.active.join() !== hashes.at(-1)) doubled.push(`${email}: ${JSON.stringify(row)}`)
    const again = await insist(client, '/token?grant_type=refresh_token', { refresh_token: tokens.at(-1) })
    if (again.status !== 200) ended.push(`${email}: ${again.status} ${again.text}`)
  }
  return {
    people: people.length,
    tokens: people.reduce((sum, { tokens }) => sum + tokens.length, 0),
    triedAgain: people.filter(({ tries }) => tries > 1).length,
    ...{ lost, doubled, ended },
  }
}
