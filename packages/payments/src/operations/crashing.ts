import type { Db, Sql, Tx } from '@tollgate/kit/db'
import type { Acquirer, Outcome } from '../acquirers/acquirer.ts'

/** For tests: at which stroke a process dies, and whether the other side still gets to do it. */
export type Fate = { stroke: number; moment: 'before' | 'after' }

export type Life = {
  isOver(): boolean
  /** From now on strokes are counted, and the one that fate names is the last. */
  arm(fate: Fate | undefined): void
  end(): never
  /** Begins a stroke; tells whether it is the last. */
  enter(): boolean
  /** Ends a stroke. Where the end came while it was under way, it was done, but nobody is left to hear of it. */
  leave(isLast: boolean): void
}

export function createLife(): Life {
  let over = false
  let fate: Fate | undefined
  let count = 0
  const end = (): never => {
    over = true
    throw new Error('the process has died')
  }
  return {
    isOver: () => over,
    arm(next) {
      fate = next
      count = 0
    },
    end,
    enter() {
      const isLast = ++count === fate?.stroke
      if (over || (isLast && fate?.moment === 'before')) end()
      return isLast
    },
    leave(isLast) {
      if (over || isLast) end()
    },
  }
}

/** A database as a process sees it that may die at any statement and any commit. What it had begun is rolled back, as a server does. */
export function mortalDb(db: Db, life: Life): Db {
  return Object.assign(mortal(db, life), {
    async begin<T>(story: (tx: Tx) => Promise<T>): Promise<T> {
      let isLast = false
      const told = await db.begin(async (tx) => {
        const result = await story(mortal(tx, life) as Tx)
        isLast = life.enter()
        return result
      })
      life.leave(isLast)
      return told
    },
    close: () => db.close(),
  })
}

function mortal(sql: Sql, life: Life): Sql {
  return async (template, ...values) => {
    const isLast = life.enter()
    const rows = await sql(template, ...values)
    life.leave(isLast)
    return rows as never
  }
}

/** What goes wrong on one of the ways to an acquirer and back. */
export const troubles = ['dies before', 'dies after', 'silent', 'silent after', 'twice'] as const

export type Trouble = (typeof troubles)[number]

/** An acquirer at the far end of a wire. Before every question it is asked what goes wrong with it. */
export function troubledAcquirer(acquirer: Acquirer, life: Life, nextTrouble: () => Trouble | undefined): Acquirer {
  async function over(ask: () => Promise<Outcome>): Promise<Outcome> {
    const trouble = nextTrouble()
    if (trouble === 'dies before') life.end()
    if (trouble === 'silent') return { kind: 'unknown', reason: 'the question was lost' }
    const outcome = await ask()
    if (trouble === 'dies after') life.end()
    if (trouble === 'silent after') return { kind: 'unknown', reason: 'the answer was lost' }
    return trouble === 'twice' ? ask() : outcome
  }
  return {
    ...acquirer,
    authorize: (ask) => over(() => acquirer.authorize(ask)),
    move: (ask) => over(() => acquirer.move(ask)),
  }
}
