import type { SealedMail, SealedSms } from '@tollgate/identity/operations/send-code'
import { derivedKey } from '@tollgate/identity/rules/derived-key'
import { unseal } from '@tollgate/identity/rules/seal'
import type { Db } from '@tollgate/kit/db'
import { Secret } from '@tollgate/kit/secret'

export type Account = {
  id: string
  /** What it is known by: the address, the number, or the tag of somebody who has neither. */
  contact: string
  confirmed: boolean
  identities: number
  note: number | null
}

export type KeptToken = { token: string; parent: string | null; session: string; revoked: boolean }

export type KeptMessage = {
  id: string
  channel: 'mail' | 'sms'
  /** By which they can be put in order, whatever the clocks said. */
  number: number
  to: string
  code: string | undefined
  link: string | undefined
  state: 'sent' | 'given up' | 'waiting'
  error: string | null
}

/** What is in the database when all is over. */
export type Ledger = {
  accounts: readonly Account[]
  sessions: readonly { id: string; user: string }[]
  tokens: readonly KeptToken[]
  messages: readonly KeptMessage[]
}

/** What a message says is forgotten once it is sent, so that a copy is kept of each; its key follows from the secret of the service. */
export async function copyMessages(sql: Db): Promise<void> {
  await sql`create schema torture`
  await sql`
    create table torture.messages (number bigint generated always as identity, id uuid primary key, channel text, sealed bytea)`
  await sql`
    create function torture.copy_message() returns trigger language plpgsql as
    'begin insert into torture.messages (id, channel, sealed) values (new.id, new.channel, new.sealed); return null; end'`
  await sql`
    create trigger copy_message after insert on auth.messages for each row execute function torture.copy_message()`
}

export async function readLedger(sql: Db, secret: string): Promise<Ledger> {
  const accounts = await sql<Account>`
    select u.id, coalesce(u.email, u.phone, raw_user_meta_data ->> 'tag', '') as contact,
      coalesce(email_confirmed_at, phone_confirmed_at) is not null as confirmed,
      (select count(*) from auth.identities i where i.user_id = u.id)::integer as identities,
      (raw_user_meta_data ->> 'note')::integer as note
    from auth.users u`
  const sessions = await sql<Ledger['sessions'][number]>`select id, user_id as user from auth.sessions`
  const tokens = await sql<KeptToken>`select token, parent, session_id as session, revoked from auth.refresh_tokens`
  const rows = await sql<Omit<KeptMessage, 'to' | 'code' | 'link'> & { sealed: Buffer }>`
    select c.id, c.channel, c.number, c.sealed, m.error,
      case when m.sent_at is not null then 'sent' when m.given_up_at is not null then 'given up' else 'waiting' end as state
    from torture.messages c left join auth.messages m on m.id = c.id where c.channel <> 'none' order by number`
  const key = derivedKey(new Secret(secret), 'messages')
  const messages = rows.map(({ sealed, ...row }) => {
    const content = unseal<SealedMail | SealedSms>(key, row.id, sealed)
    return 'facts' in content
      ? { ...row, to: content.to, code: content.facts.code, link: content.facts.tokenHash }
      : { ...row, to: content.to, code: content.code, link: undefined }
  })
  return { accounts, sessions, tokens, messages }
}

/** Messages that nobody has told yet what became of. */
export async function countWaiting(sql: Db): Promise<number> {
  const [waiting] = await sql<{ count: number }>`
    select count(*) as count from auth.messages where sent_at is null and given_up_at is null`
  return waiting?.count ?? 0
}
