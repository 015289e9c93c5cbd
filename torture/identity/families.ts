import type { Span } from '../clock.ts'
import { entryIn, isDone, isUnknown, type Said } from './client.ts'

/** A session that somebody was let into. */
export type Started = { id: string; user: string; contact: string; heard: number }

/** A refresh token that somebody was told. */
export type Shown = {
  token: string
  session: Started
  parent: Shown | undefined
  /** What it was exchanged for: one and the same, however often it was asked for. */
  children: Set<Shown>
  /** Every time that somebody came with it. */
  shows: Said[]
}

export type Families = { sessions: Map<string, Started>; tokens: Map<string, Shown> }

/** Which tokens came from which, as clients were told. */
export function readFamilies(history: readonly Said[]): Families {
  const sessions = new Map<string, Started>()
  const tokens = new Map<string, Shown>()
  const add = (token: string, session: Started, parent: Shown | undefined) => {
    const known = tokens.get(token) ?? { token, session, parent, children: new Set(), shows: [] }
    tokens.set(token, known)
    parent?.children.add(known)
  }
  for (const said of history.toSorted((a, b) => a.heard - b.heard)) {
    const entry = entryIn(said.answer)
    if (!entry) continue
    const started = { id: entry.session, user: entry.user, contact: said.contact, heard: said.heard }
    if (said.act !== 'refresh') {
      sessions.set(entry.session, started)
      add(entry.refresh, started, undefined)
      continue
    }
    const parent = tokens.get(String(said.body.refresh_token))
    add(entry.refresh, parent?.session ?? started, parent)
  }
  for (const said of history) if (said.act === 'refresh') tokens.get(String(said.body.refresh_token))?.shows.push(said)
  return { sessions, tokens }
}

/** Whether a request is about ending this session, whatever came of it. */
export function endsSession(said: Said, { id, contact }: Started): boolean {
  if (said.contact !== contact) return false
  if (said.act === 'password') return said.session !== id
  if (said.act !== 'log out') return false
  return said.body.scope === 'global' || (said.session === id) === (said.body.scope === 'local')
}

export type Judging = {
  history: readonly Said[]
  /** Milliseconds for which the last token but one is good. */
  interval: number
  /** When clocks were wrong. */
  wrong: readonly Span[]
}

export function isOff(wrong: readonly Span[], from: number, to: number): boolean {
  return wrong.some((span) => span.from < to && from < span.to)
}

const isRefusal = ({ answer }: Said) => answer?.status === 400

/** From a token up to the one that its session began with. */
function* lineOf(token: Shown): Generator<Shown> {
  for (let each: Shown | undefined = token; each; each = each.parent) yield each
}

function firstShow({ shows }: Shown): number {
  return Math.min(...shows.map(({ sent }) => sent))
}

/** Whether what became of a token can explain that it was refused: without that, somebody was signed out for nothing. */
export function mayRefuse(refused: Said, token: Shown, { history, interval, wrong }: Judging): boolean {
  const { heard } = refused
  const before = ({ shows }: Shown) => shows.filter((each) => each !== refused && each.sent < heard)
  const ended = history.some((said) => said.sent < heard && endsSession(said, token.session) && (isDone(said) || isUnknown(said)))
  if (ended) return true
  const childCame = (parent: Shown) => [...parent.children].some((child) => before(child).length > 0)
  const couldBeLate = (parent: Shown, to: number) => to - firstShow(parent) > interval || isOff(wrong, firstShow(parent), to)
  if (before(token).length > 0 && (couldBeLate(token, heard) || childCame(token))) return true
  // A request that was given up may have been read later, when what came of the token was older than it thought.
  return [...lineOf(token)].some((each) =>
    before(each).some(
      (show) => isRefusal(show) || (each !== token && isUnknown(show) && (couldBeLate(each, show.heard) || childCame(each))),
    ),
  )
}

/** Clocks of two processes of one machine are a little apart, and so are the moments at which something is sent and read. */
const slack = 100

/** Why a token should not have been accepted; undefined where it should. */
export function whyRefuse(accepted: Said, token: Shown, { history, interval, wrong }: Judging): string | undefined {
  const { sent, heard } = accepted
  const isBefore = (said: Said) => said.heard < sent
  const ended = history.some(
    (said) => isBefore(said) && isDone(said) && endsSession(said, token.session) && token.session.heard < said.sent,
  )
  if (ended) return 'its session had ended'
  if ([...lineOf(token)].some(({ shows }) => shows.some((show) => isRefusal(show) && isBefore(show))))
    return 'its family had been revoked'
  const succeeded = [...token.children].some(({ shows }) => shows.some((show) => isDone(show) && isBefore(show)))
  if (succeeded) return 'it was older than the last but one'
  const exchanged = Math.min(...token.shows.filter(isDone).map((show) => show.heard))
  if (sent > exchanged + interval + slack && !isOff(wrong, firstShow(token), heard)) return 'it had been exchanged too long ago'
  return undefined
}
