import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import { type Answer, type Ask, entryIn, type Wish } from './client.ts'
import type { Letter, Postbox } from './postbox.ts'

/** A session as one program of somebody's holds it. */
type Hand = { session: string; access: string /** Oldest first. */; tokens: string[] }

type Reachable = { email: string } | { phone: string }

export type Person = {
  contact: string
  reachable: Reachable | undefined
  /** Undefined where there is none, or where nobody can tell which of two it is. */
  password: string | undefined
  hands: Hand[]
  note: number
}

export type World = {
  ask: Ask
  postbox: Postbox
  random: Random
  /** For how many milliseconds the last refresh token but one is good. */
  interval: number
  isOpen(): boolean
}

/** Things went another way than a person can go on from; somebody else comes. */
class Leaves extends Error {}

/** How long people look into their inbox before they ask for another message. */
const inboxPatience = 1_500

/** People who sign up, come and go, and do to their accounts what people do, until there is nobody left to do it. Tells who they were. */
export async function live(world: World, name: string): Promise<Person[]> {
  const { random, isOpen } = world
  const people: Person[] = []
  for (let number = 1; isOpen(); number++) {
    const person = await join(world, `${name}-${number}`).catch(unlessLeaving)
    if (!person) continue
    people.push(person)
    for (let acts = random.between(4, 16); acts > 0 && isOpen(); acts--)
      if (await doSomething(world, person).catch(unlessLeaving)) break
  }
  return people
}

function unlessLeaving(problem: unknown): undefined {
  if (!(problem instanceof Leaves)) throw problem
}

/** When all is well again, everybody goes on with what they had. */
export async function comeBack(world: World, people: readonly Person[]): Promise<void> {
  for (const person of people) {
    for (const hand of person.hands) await refresh(world, person, hand)
    if (person.password !== undefined) await signIn(world, person, person.password)
  }
}

async function insist({ ask, random }: World, wish: Wish): Promise<Answer> {
  for (;;) {
    const answer = await ask(wish)
    if (answer && answer.status < 500 && answer.status !== 429) return answer
    const seconds = answer?.status === 429 ? Number(/after (\d+) seconds/.exec(String(answer.json.msg))?.[1]) : 0
    // By a clock that was ahead when something was sent, and is not any more.
    if (seconds > 5) throw new Leaves()
    await sleep(seconds * 1_000 + random.between(20, 250))
  }
}

async function join(world: World, name: string): Promise<Person> {
  const { random } = world
  const way = random.pick(['password', 'password', 'code', 'nothing'] as const)
  if (way === 'nothing') return joinAsNobody(world, name)
  const byMail = random.chance(0.65)
  const reachable = byMail ? { email: `${name}@people.test` } : { phone: phoneOf(name) }
  const contact = 'email' in reachable ? reachable.email : reachable.phone
  const person: Person = { contact, reachable, password: undefined, hands: [], note: 0 }
  if (way === 'code') await enterByCode(world, person)
  else {
    const password = `first ${random.between(0, 2 ** 32 - 1)}`
    const had = world.postbox.count(contact)
    await insist(world, { act: 'sign up', contact, path: '/signup', body: { ...reachable, password } })
    person.password = password
    await enterByCode(world, person, await world.postbox.next(contact, had, inboxPatience))
  }
  return person
}

/** Without address or number, so that whoever asks again is another one. */
async function joinAsNobody({ ask, random }: World, name: string): Promise<Person> {
  for (let tries = 1; ; tries++) {
    const contact = `${name}-${tries}`
    const answer = await ask({ act: 'sign up', contact, path: '/signup', body: { data: { tag: contact } } })
    const person: Person = { contact, reachable: undefined, password: undefined, hands: [], note: 0 }
    if (take(person, answer)) return person
    await sleep(random.between(20, 250))
  }
}

/** Digits alone, and another number for everybody. */
function phoneOf(name: string): string {
  const [, person = 0, number = 0] = (/(\d+)-(\d+)$/.exec(name) ?? []).map(Number)
  return `45${String(person).padStart(2, '0')}${String(number).padStart(6, '0')}`
}

function take(person: Person, answer: Answer | undefined): Hand | undefined {
  const entry = entryIn(answer)
  if (!entry) return undefined
  const hand = { session: entry.session, access: entry.access, tokens: [entry.refresh] }
  person.hands.push(hand)
  return hand
}

function drop(person: Person, gone: (hand: Hand) => boolean) {
  person.hands = person.hands.filter((hand) => !gone(hand))
}

/** By a code or link in a message, of which another one is asked for where the last did not come or lead anywhere. */
async function enterByCode(world: World, person: Person, first?: Letter, by = '/otp'): Promise<Hand> {
  let letter = first
  for (let tries = 0; tries < 5; tries++) {
    const hand = letter && (await verify(world, person, letter, by))
    if (hand) return hand
    const had = world.postbox.count(person.contact)
    await insist(world, { act: 'send', contact: person.contact, path: by, body: { ...person.reachable } })
    letter = await world.postbox.next(person.contact, had, inboxPatience)
  }
  throw new Leaves()
}

async function verify({ ask, random }: World, person: Person, { code, link }: Letter, by: string): Promise<Hand | undefined> {
  const { contact, reachable } = person
  const type = reachable && 'phone' in reachable ? 'sms' : by === '/recover' ? 'recovery' : 'email'
  const body = link && random.chance(0.5) ? { type, token_hash: link } : { type, token: code, ...reachable }
  for (let tries = 1; tries <= 3; tries++) {
    const answer = await ask({ act: 'verify', contact, path: '/verify', body })
    const hand = take(person, answer)
    if (hand || (answer && answer.status < 500)) return hand
    await sleep(random.between(20, 250))
  }
  return undefined
}

async function signIn(world: World, person: Person, password: string): Promise<Hand | undefined> {
  const path = '/token?grant_type=password'
  const body = { ...person.reachable, password }
  return take(person, await insist(world, { act: 'sign in', contact: person.contact, path, body }))
}

function show(world: World, { contact }: Person, token: string): Promise<Answer> {
  return insist(world, { act: 'refresh', contact, path: '/token?grant_type=refresh_token', body: { refresh_token: token } })
}

/** One program, or several at once that share a token; what they are told is for the checker to compare. */
async function refresh(world: World, person: Person, hand: Hand, programs = 1): Promise<boolean> {
  const token = hand.tokens.at(-1) ?? ''
  const answers = await Promise.all(Array.from({ length: programs }, () => show(world, person, token)))
  const entry = answers.map(entryIn).find((each) => each !== undefined)
  if (!entry || answers.some(({ status }) => status !== 200)) {
    drop(person, (each) => each === hand)
    return false
  }
  hand.access = entry.access
  hand.tokens.push(entry.refresh)
  return true
}

/** An access token may have been made by a clock that has changed its mind. */
async function asHolder(world: World, person: Person, hand: Hand, wish: Omit<Wish, 'as' | 'contact'>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await insist(world, { ...wish, contact: person.contact, as: hand })
    if (answer.json.error_code !== 'bad_jwt' || tries === 3) return answer
    if (!(await refresh(world, person, hand))) throw new Leaves()
  }
}

type Deed = (world: World, person: Person, hand: Hand) => Promise<unknown>

const deeds: readonly (readonly [weight: number, deed: Deed])[] = [
  [5, (world, person, hand) => refresh(world, person, hand)],
  [4, (world, person, hand) => refresh(world, person, hand, world.random.between(2, 4))],
  [2, repeat],
  [1, reuseLate],
  [1, reuseOld],
  [2, look],
  [2, tellNote],
  [2, enterAgain],
  [2, leave],
  [2, changePassword],
  [1, recover],
]

const lots = deeds.flatMap(([weight, deed]) => Array.from({ length: weight }, () => deed))

/** True when there is nothing left that this person could do. */
async function doSomething(world: World, person: Person): Promise<boolean> {
  const { random } = world
  if (person.hands.length === 0) {
    if (person.reachable === undefined) return true
    const entered = await enterAgain(world, person)
    if (!entered) return true
  }
  await random.pick(lots)(world, person, random.pick(person.hands))
  return false
}

/** As a program does whose answer was lost: it shows the token that it has. */
async function repeat(world: World, person: Person, hand: Hand) {
  const before = hand.tokens.at(-1) ?? ''
  if (await refresh(world, person, hand)) await show(world, person, before)
}

/** When the time for that is over, it is an attack, and nothing of the family is worth anything any more. */
async function reuseLate(world: World, person: Person, hand: Hand) {
  const before = hand.tokens.at(-1) ?? ''
  if (!(await refresh(world, person, hand))) return
  await sleep(world.interval + 300)
  await show(world, person, before)
  await refresh(world, person, hand)
}

/** The same at once, where the token is older than the last but one. */
async function reuseOld(world: World, person: Person, hand: Hand) {
  const before = hand.tokens.at(-1) ?? ''
  if (!(await refresh(world, person, hand)) || !(await refresh(world, person, hand))) return
  await show(world, person, before)
  await refresh(world, person, hand)
}

async function look(world: World, person: Person, hand: Hand) {
  await asHolder(world, person, hand, { act: 'look', method: 'GET', path: '/user' })
}

async function tellNote(world: World, person: Person, hand: Hand) {
  person.note++
  await asHolder(world, person, hand, { act: 'note', method: 'PUT', path: '/user', body: { data: { note: person.note } } })
}

async function enterAgain(world: World, person: Person): Promise<Hand | undefined> {
  if (person.reachable === undefined) return undefined
  if (person.password !== undefined && world.random.chance(0.7)) return signIn(world, person, person.password)
  return enterByCode(world, person)
}

async function leave(world: World, person: Person, hand: Hand) {
  const scope = world.random.pick(['local', 'global', 'others'] as const)
  await asHolder(world, person, hand, { act: 'log out', path: `/logout?scope=${scope}`, body: { scope } })
  const ended = person.hands.filter((each) => scope === 'global' || (each === hand) === (scope === 'local'))
  drop(person, (each) => ended.includes(each))
  await tryEnded(world, person, ended)
}

/** Whoever was signed out tries all the same. */
async function tryEnded(world: World, person: Person, ended: readonly Hand[]) {
  for (const each of ended) {
    await show(world, person, each.tokens.at(-1) ?? '')
    await insist(world, { act: 'look', contact: person.contact, method: 'GET', path: '/user', as: each })
  }
}

async function changePassword(world: World, person: Person, hand: Hand) {
  if (person.reachable === undefined) return
  const before = person.password
  const password = `later ${world.random.between(0, 2 ** 32 - 1)}`
  person.password = undefined
  const answer = await asHolder(world, person, hand, { act: 'password', method: 'PUT', path: '/user', body: { password } })
  // An answer that was lost said that it is set, and it cannot be set again.
  const isSet = answer.status === 200 || answer.json.error_code === 'same_password'
  if (!isSet) return
  person.password = password
  const ended = person.hands.filter((each) => each !== hand)
  drop(person, (each) => each !== hand)
  await tryEnded(world, person, ended.slice(0, 1))
  if (before !== undefined && world.random.chance(0.5)) await signIn(world, person, before)
}

async function recover(world: World, person: Person) {
  if (!person.reachable || !('email' in person.reachable)) return
  const hand = await enterByCode(world, person, undefined, '/recover')
  if (world.random.chance(0.5)) await changePassword(world, person, hand)
}
