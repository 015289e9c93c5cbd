import { type Post, Refused } from './post.ts'

/** One payment under way: the same order all the way, with what its steps have given so far. No card data is in it, only tokens. */
export type Attempt = {
  order: Order
  hints: readonly string[]
  /** Whether the money may have been taken already, though nobody has said so. */
  risky: boolean
}

export type Order = { readonly [name: string]: unknown }

export type Challenge = { name: string; type: string; path: string }

/** What to open in a frame. */
export type Opening = {
  action?: string
  url?: string
  method?: string
  fields?: Readonly<Record<string, string>>
  timeout?: number
  width?: number
  height?: number
}

type Step = Opening & { hints?: readonly string[] }

export type Stage = 'checkingCard' | 'waitingForBank' | 'paying'

export type Course = {
  post: Post
  /** Gives the hints that the page in the frame tells; none when it stays silent. */
  openUnseen(opening: Opening): Promise<readonly string[]>
  openSeen(opening: Opening): Promise<readonly string[]>
  entered(stage: Stage): void
  /** Keeps what there is, so that a reload can go on from here. */
  keep(attempt: Attempt): void
}

/** More steps than any payment has. */
const mostSteps = 30

/** Takes step after step until the payment is made, and gives its id. */
export async function pay(begun: Attempt, course: Course): Promise<string> {
  let attempt = begun
  for (let step = 0; step < mostSteps; step++) {
    const asked = { ...attempt.order, hints: attempt.hints }
    const answer = await course.post<{ authorizationId?: string; challenges?: readonly Challenge[] }>('/payments', asked)
    if (typeof answer.authorizationId === 'string') return answer.authorizationId
    const challenge = chooseChallenge(answer.challenges ?? [])
    if (!challenge) throw new Refused('PAYMENT_CHALLENGE_UNAVAILABLE', 'no step is offered that can be taken here')
    if (challenge.name === 'authorize') attempt = { ...attempt, risky: true }
    course.keep(attempt)
    course.entered(stageOf(challenge))
    const hints = await takeStep(challenge, asked, course)
    attempt = { ...attempt, hints: [...attempt.hints, ...hints] }
    course.keep(attempt)
  }
  throw new Refused('PAYMENT_CHALLENGE_UNAVAILABLE', 'the steps do not end')
}

/** What can be done without anybody noticing comes first. */
export function chooseChallenge(challenges: readonly Challenge[]): Challenge | undefined {
  const known = challenges.filter(
    ({ type, path }) => ['fetch', 'background-iframe', 'iframe'].includes(type) && /^\/payments\/challenges\/[\w-]+$/.test(path),
  )
  return (
    known.find(({ type }) => type === 'fetch') ??
    known.find(({ type, name }) => type === 'background-iframe' && name === 'tds-fingerprint') ??
    known[0]
  )
}

async function takeStep(challenge: Challenge, asked: object, { post, openUnseen, openSeen }: Course): Promise<readonly string[]> {
  const step = await post<Step>(challenge.path, asked)
  const given = step.hints ?? []
  if (step.action === undefined && step.url === undefined) return given
  const open = challenge.type === 'iframe' ? openSeen : openUnseen
  return [...given, ...(await open(step))]
}

function stageOf({ name }: Challenge): Stage {
  if (name === 'authorize') return 'paying'
  return name.startsWith('tds-') && name !== 'tds-enrolled' ? 'waitingForBank' : 'checkingCard'
}
