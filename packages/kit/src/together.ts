import { Unavailable } from './failure.ts'

export type Together<Question, Answer> = (question: Question) => Promise<Answer>

/** How many crowds are under way at most, and how many questions each has. */
type Limits = { atOnce?: number; most?: number }

type Waiting<Question, Answer> = { question: Question } & Pick<PromiseWithResolvers<Answer>, 'resolve' | 'reject'>

/**
 * Answers questions of one kind, one for each, in their order. Those that come while others are being answered are asked together, so that
 * a crowd costs little more than one; whoever comes alone waits for nobody.
 */
export function createTogether<Question, Answer>(
  askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  { atOnce = 2, most = 64 }: Limits = {},
): Together<Question, Answer> {
  const waiting: Waiting<Question, Answer>[] = []
  let underWay = 0
  let awaited = false

  /** Once everything has been read that has arrived by now. */
  function startSoon() {
    if (awaited || underWay >= atOnce) return
    awaited = true
    setImmediate(() => {
      awaited = false
      while (underWay < atOnce && waiting.length > 0) void answer(waiting.splice(0, most))
    })
  }

  async function answer(crowd: readonly Waiting<Question, Answer>[]) {
    underWay++
    try {
      await answerAll(crowd)
    } finally {
      underWay--
      if (waiting.length > 0) startSoon()
    }
  }

  async function answerAll(crowd: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await askAll(crowd.map(({ question }) => question))
      for (const [index, { resolve }] of crowd.entries()) resolve(answers[index] as Answer)
    } catch (problem) {
      // What one of them asks for may be impossible, which is no concern of the others.
      if (crowd.length > 1 && !(problem instanceof Unavailable)) await Promise.all(crowd.map((each) => answerAll([each])))
      else for (const { reject } of crowd) reject(problem)
    }
  }

  return (question) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    waiting.push({ question, resolve, reject })
    startSoon()
    return promise
  }
}
