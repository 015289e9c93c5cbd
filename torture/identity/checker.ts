import type { Finding } from '../scene.ts'
import { entryIn, isDone, isUnknown, type Said } from './client.ts'
import { endsSession, type Families, isOff, type Judging, mayRefuse, readFamilies, whyRefuse } from './families.ts'
import type { KeptMessage, Ledger } from './ledger.ts'
import type { Handing } from './postbox.ts'

export type Evidence = Judging & { ledger: Ledger; handings: readonly Handing[] }

type Case = Evidence & { families: Families; byContact: Map<string, Said[]> }

/** What must hold, and how to find where it does not. */
const rules = {
  'an answer was a 500': ({ history }) => history.filter(({ answer }) => answer?.status === 500).map(tell),

  'an account was acknowledged and is lost': ({ history, ledger }) => {
    const known = new Set(ledger.accounts.map(({ id, contact }) => `${contact} ${id}`))
    return history
      .filter((said) => toldAccount(said) !== undefined && !known.has(`${said.contact} ${toldAccount(said)}`))
      .map(tell)
  },

  'an account is there twice': ({ ledger }) =>
    [...Map.groupBy(ledger.accounts, ({ contact }) => contact)]
      .filter(([, accounts]) => accounts.length > 1)
      .map(([, accounts]) => JSON.stringify(accounts)),

  'an account was told under two names': ({ byContact }) =>
    [...byContact].flatMap(([contact, said]) => {
      const ids = new Set(said.map(toldAccount).filter((id) => id !== undefined))
      return ids.size > 1 ? [`${contact}: ${[...ids].join(', ')}`] : []
    }),

  'an account is there that nobody asked for': ({ ledger, byContact }) =>
    ledger.accounts.filter(({ contact }) => !byContact.get(contact)?.some(makesAccount)).map((each) => JSON.stringify(each)),

  'an account has not the one identity that it should': ({ ledger }) =>
    ledger.accounts
      .filter(({ contact, identities }) => identities !== (/[@]|^\d+$/.test(contact) ? 1 : 0))
      .map((account) => JSON.stringify(account)),

  'a confirmation was acknowledged and is lost': ({ history, ledger }) => {
    const confirmed = new Set(ledger.accounts.filter((each) => each.confirmed).map(({ contact }) => contact))
    return history.filter((said) => said.act === 'verify' && isDone(said) && !confirmed.has(said.contact)).map(tell)
  },

  'what somebody told of themselves is lost': ({ ledger, byContact }) =>
    ledger.accounts.flatMap((account) => {
      const notes = (byContact.get(account.contact) ?? []).filter(({ act }) => act === 'note')
      const last = notes.findLast(isDone)
      if (!last) return []
      const number = noteOf(last)
      // Whatever was asked for later and left without an answer may be there instead.
      const least = Math.max(number, ...notes.filter(isDone).map(noteOf))
      const most = Math.max(least, ...notes.filter(isUnknown).map(noteOf))
      const kept = account.note ?? 0
      return kept < least || kept > most ? [`${account.contact} has ${kept}, not ${least} to ${most}`] : []
    }),

  'a session was acknowledged and is lost': ({ history, ledger, families }) => {
    const kept = new Set(ledger.sessions.map(({ id }) => id))
    return [...families.sessions.values()]
      .filter((session) => !kept.has(session.id))
      .filter((session) => !history.some((said) => endsSession(said, session) && (isDone(said) || isUnknown(said))))
      .map((session) => JSON.stringify(session))
  },

  'a session is there that nobody asked for': ({ ledger, byContact, families }) => {
    const contacts = new Map(ledger.accounts.map(({ id, contact }) => [id, contact]))
    return [...Map.groupBy(ledger.sessions, ({ user }) => user)].flatMap(([user, sessions]) => {
      const said = byContact.get(contacts.get(user) ?? '') ?? []
      const untold = sessions.filter(({ id }) => !families.sessions.has(id)).length
      const unheard = said.filter((each) => startsSession(each) && isUnknown(each)).length
      return untold > unheard ? [`${contacts.get(user)}: ${untold} that nobody was told of, ${unheard} without an answer`] : []
    })
  },

  'an ended session is there': ({ history, ledger, families }) =>
    ledger.sessions.flatMap(({ id }) => {
      const session = families.sessions.get(id)
      const end = session && history.find((said) => isDone(said) && endsSession(said, session) && session.heard < said.sent)
      return end ? [`${id}: ${tell(end)}`] : []
    }),

  'a family has two living tokens': ({ ledger }) =>
    [
      ...Map.groupBy(
        ledger.tokens.filter(({ revoked }) => !revoked),
        ({ session }) => session,
      ),
    ]
      .filter(([, living]) => living.length > 1)
      .map(([session]) => session),

  'a token has two children': ({ ledger }) =>
    [...Map.groupBy(ledger.tokens, ({ parent }) => parent)]
      .filter(([parent, children]) => parent !== null && children.length > 1)
      .map(([, children]) => JSON.stringify(children)),

  'a living token is not the last of its line': ({ ledger }) => {
    const parents = new Set(ledger.tokens.map(({ parent }) => parent))
    return ledger.tokens.filter(({ token, revoked }) => !revoked && parents.has(token)).map((token) => JSON.stringify(token))
  },

  'one token was exchanged for two': ({ families }) =>
    [...families.tokens.values()].filter(({ children }) => children.size > 1).map(({ shows }) => tellAll(shows)),

  'a refresh token was refused without a reason': (given) =>
    showsOf(given)
      .filter(([said, token]) => said.answer?.status === 400 && !mayRefuse(said, token, given))
      .map(([said, token]) => tellFamily(given, said, token)),

  'a refresh token was accepted that should not be': (given) =>
    showsOf(given).flatMap(([said, token]) => {
      const why = isDone(said) ? whyRefuse(said, token, given) : undefined
      return why ? [`${why}: ${tellFamily(given, said, token)}`] : []
    }),

  'an access token was accepted after its session had ended': ({ history, families }) =>
    history
      .filter((said) => said.act === 'look' && isDone(said))
      .filter((said) => {
        const session = families.sessions.get(said.session ?? '')
        return history.some(
          (end) => session && isDone(end) && end.heard < said.sent && session.heard < end.sent && endsSession(end, session),
        )
      })
      .map(tell),

  'the right password was refused': ({ byContact }) =>
    signInsOf(byContact)
      .filter(([said, , sure]) => said.answer?.status === 400 && said.body.password === sure)
      .map(([said, all]) => `${tell(said)} after${tellAll(all.filter(setsPassword))}`),

  'an old password was accepted': ({ byContact }) =>
    signInsOf(byContact)
      .filter(([said, , sure]) => isDone(said) && sure !== undefined && said.body.password !== sure)
      .map(([said, all]) => `${tell(said)} after${tellAll(all.filter(setsPassword))}`),

  'a code was refused without a reason': ({ history, ledger, byContact }) =>
    history
      .filter((said) => said.act === 'verify' && !isDone(said) && !isUnknown(said))
      .filter((said) => {
        const all = byContact.get(said.contact) ?? []
        // It may have been taken by a request whose answer was lost, or by somebody who got in by another one.
        const spent = all.some((each) => each !== said && each.act === 'verify' && each.sent < said.heard && !isRefused(each))
        const newest = ledger.messages.findLast(({ to }) => to === said.contact)
        const { token, token_hash: link } = said.body
        return !spent && newest !== undefined && (link === undefined ? newest.code === token : newest.link === link)
      })
      .map(tell),

  'a code was accepted twice': ({ history }) => {
    const accepted = history.filter((said) => said.act === 'verify' && isDone(said))
    return [...Map.groupBy(accepted, ({ contact, body }) => `${contact} ${body.token ?? body.token_hash}`).values()]
      .filter((said) => said.length > 1)
      .map(tellAll)
  },

  'something was refused without a reason': ({ history, families, wrong }) =>
    history
      .filter((said) => isRefused(said) && !['refresh', 'verify', 'sign in'].includes(said.act))
      .filter((said) => !mayBeRefused(said, history, families, wrong))
      .map(tell),

  'a message was promised and is not there': ({ byContact, ledger }) =>
    compareMessages(byContact, ledger, (kept, { promised }) => kept < promised),

  'a message is there that nobody asked for': ({ byContact, ledger }) =>
    compareMessages(byContact, ledger, (kept, { promised, possible }) => kept > promised + possible),

  'a message is still waiting': ({ ledger }) =>
    ledger.messages.filter(({ state }) => state === 'waiting').map((message) => JSON.stringify(message)),

  // Once whoever takes messages has said yes, or nobody can tell what was said, it is never sent again. After a no it is, for a no is believed.
  'a message was sent twice': ({ ledger, handings }) =>
    ledger.messages.flatMap((message) => {
      const all = handingsOf(message, handings)
      return all.filter(({ told }) => told !== 'no').length > 1 ? [`${JSON.stringify(message)} ${tellHandings(all)}`] : []
    }),

  'a message was said to be sent and was not': ({ ledger, handings }) =>
    ledger.messages
      .filter((message) => message.state === 'sent' && !handingsOf(message, handings).some(({ told }) => told !== 'no'))
      .map((message) => JSON.stringify(message)),

  // The one reason that there is: nobody can tell whether it was sent, and it must not be sent twice.
  'a message was given up without need': ({ ledger, handings }) =>
    ledger.messages
      .filter(({ state, error }) => state === 'given up' && !/may have been sent/.test(error ?? ''))
      .map((message) => `${JSON.stringify(message)} ${tellHandings(handingsOf(message, handings))}`),

  'a message was given up that is known to be taken': ({ ledger, handings }) =>
    ledger.messages
      .filter((message) => message.state === 'given up' && /answered|the mail/.test(message.error ?? ''))
      .filter((message) => handingsOf(message, handings).some(({ told }) => told === 'yes'))
      .map((message) => JSON.stringify(message)),
} as const satisfies Record<string, (given: Case) => string[]>

export type IdentityRule = keyof typeof rules

/** Reads all that people said and heard, what mail server and gateway were handed, and the database in the end. */
export function checkIdentity(evidence: Evidence): Finding[] {
  const { history } = evidence
  const byContact = Map.groupBy(
    history.toSorted((a, b) => a.heard - b.heard),
    ({ contact }) => contact,
  )
  const given = { ...evidence, families: readFamilies(history), byContact }
  return Object.entries(rules).flatMap(([rule, find]) => find(given).map((what) => ({ rule, what })))
}

const isRefused = (said: Said) => !isDone(said) && !isUnknown(said) && said.answer?.status !== 429

/** The id of the account that an answer names. */
function toldAccount({ act, answer }: Said): string | undefined {
  const entry = entryIn(answer)
  if (entry) return entry.user
  return act === 'sign up' && answer?.status === 200 ? String(answer.json.id) : undefined
}

const makesAccount = ({ act, path }: Said) => act === 'sign up' || path === '/otp'

/** Whoever has neither address nor number is in at once. */
const startsSession = ({ act, body }: Said) => act === 'verify' || act === 'sign in' || (act === 'sign up' && 'data' in body)

const noteOf = ({ body }: Said) => (body.data as { note: number }).note

function showsOf({ families }: Case) {
  return [...families.tokens.values()].flatMap((token) => token.shows.map((said) => [said, token] as const))
}

const setsPassword = ({ act, body }: Said) => act === 'password' || (act === 'sign up' && 'password' in body)

/** Every sign-in by password, all that was said of the account, and the password that it surely had all the while, where there is one. */
function signInsOf(byContact: Case['byContact']): [said: Said, all: Said[], sure: string | undefined][] {
  return [...byContact.values()].flatMap((all) =>
    all
      .filter(({ act }) => act === 'sign in')
      .map((said): [Said, Said[], string | undefined] => {
        const sets = all.filter((each) => setsPassword(each) && each.sent < said.heard && !isRefused(each))
        const settled = all.filter((each) => setsPassword(each) && each.heard < said.sent && isSet(each)).at(-1)
        const sure = settled?.body.password
        // Something else may have come about meanwhile, or long after whoever asked for it had given up.
        const unsure = sets.some((each) => each.body.password !== sure && (isUnknown(each) || each.heard > (settled?.sent ?? 0)))
        return [said, all, unsure ? undefined : (sure as string | undefined)]
      }),
  )
}

/** Told to be the same as the one that there is, which is as good as being told that it was set. */
const isSet = (said: Said) => isDone(said) || said.answer?.json.error_code === 'same_password'

/** What can be refused to people who do nothing wrong, and when. */
function mayBeRefused(said: Said, history: readonly Said[], { sessions }: Families, wrong: Judging['wrong']): boolean {
  const code = said.answer?.json.error_code
  const session = sessions.get(said.session ?? '')
  if (code === 'session_not_found')
    return (
      session !== undefined &&
      history.some((end) => end !== said && end.sent < said.heard && !isRefused(end) && endsSession(end, session))
    )
  // Made by a clock that was ahead, or read by one.
  if (code === 'bad_jwt') return isOff(wrong, 0, said.heard)
  if (code === 'same_password')
    return history.some(
      (each) =>
        each !== said &&
        each.act === 'password' &&
        each.body.password === said.body.password &&
        each.sent < said.heard &&
        isUnknown(each),
    )
  return false
}

function compareMessages(
  byContact: Case['byContact'],
  { messages }: Ledger,
  isWrong: (kept: number, asked: { promised: number; possible: number }) => boolean,
): string[] {
  const kept = Map.groupBy(messages, ({ to }) => to)
  return [...new Set([...byContact.keys(), ...kept.keys()])].flatMap((contact) => {
    const sends = (byContact.get(contact) ?? []).filter(sendsMessage)
    const asked = { promised: sends.filter(isDone).length, possible: sends.filter(isUnknown).length }
    const count = kept.get(contact)?.length ?? 0
    return isWrong(count, asked) ? [`${contact}: ${count} of ${asked.promised}, or ${asked.possible} more`] : []
  })
}

const sendsMessage = (said: Said) => said.act === 'send' || (said.act === 'sign up' && 'password' in said.body)

function handingsOf({ channel, id, to, code = '' }: KeptMessage, handings: readonly Handing[]): Handing[] {
  return handings.filter((each) =>
    channel === 'mail' ? each.id === id : each.channel === 'sms' && each.to === to && each.text.includes(code),
  )
}

const tellHandings = (handings: readonly Handing[]) =>
  handings.map(({ kept, told }) => `${kept ? 'kept' : 'thrown away'}, told ${told}`).join('; ')

function tell({ act, contact, path, body, session, sent, heard, answer }: Said): string {
  const told = answer ? `${answer.status} ${JSON.stringify(answer.json).slice(0, 300)}` : 'no answer'
  return `${sent.toFixed(0)}–${heard.toFixed(0)} ms ${act} ${contact} ${path} ${JSON.stringify(body)} ${session ?? ''}: ${told}`
}

const tellAll = (said: readonly Said[]) => said.map((each) => `\n    ${tell(each)}`).join('')

/** Everything that was said of the account around it, for whoever has to find out why. */
function tellFamily({ byContact }: Case, said: Said, { session }: { session: { id: string } }): string {
  const around = (byContact.get(said.contact) ?? []).filter(({ heard }) => heard > said.sent - 15_000 && heard <= said.heard + 1)
  return `${tell(said)} in ${session.id}, after${tellAll(around)}`
}
