import { setTimeout as sleep } from 'node:timers/promises'
import { openDb } from '@tollgate/kit/db'
import { scratchDatabase } from '@tollgate/kit/testing'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, message, type Program, runTollgate, settingsOf } from '../packages/tollgate/src/testing.ts'
import {
  createClient,
  findDifferences,
  judge,
  judgePurchases,
  load,
  openShop,
  type Purchase,
  shopping,
  type Wish,
} from './payments-kill.ts'

/** `PAYMENTS_KILL_SECONDS=180 npm test -- payments-kill` is minutes of it; what runs every time is a cut. */
const seconds = Number(process.env.PAYMENTS_KILL_SECONDS ?? 11)
const pauseBetweenKills = 3
const workers = 2

test(
  `whoever asks until there is an answer is served once, however often the service is killed in ${seconds} seconds`,
  async () => {
    const database = await scratchDatabase('template_payments')
    onTestFinished(() => database.drop())
    const db = openDb({ url: database.url, schema: { written: 'pay', actual: 'pay' }, name: 'payments-kill' })
    onTestFinished(() => db.close())
    const port = await freePort()
    const env = {
      ...settingsOf(database, port, workers),
      ...{ PAY_ASK_AGAIN_AFTER: '1', LOG_LEVEL: 'info' },
      PAY_VAULT_KEYS: `kill:${Buffer.alloc(32, 'kill').toString('base64')}`,
    }
    const start = async () => {
      const program = runTollgate(['payments', 'serve'], env)
      await program.line(message('listening'))
      return program
    }
    let program = await start()
    const client = createClient(`http://127.0.0.1:${port}`)
    onTestFinished(() => client.close())
    const shop = await openShop(client)

    let isOpen = true
    const [history, purchases]: [Wish[], Purchase[]] = [[], []]
    const loading = load(client, shop, { assistants: 6, isOpen: () => isOpen, history })
    const buying = shopping(client, shop, { customers: 6, isOpen: () => isOpen, purchases })
    const kills = { worker: 0, everything: 0 }
    const end = performance.now() + seconds * 1000
    // On a slow machine it takes longer, but it is no less.
    while (performance.now() < end || kills.worker + kills.everything < 3) {
      await sleep(pauseBetweenKills * 500 + Math.random() * pauseBetweenKills * 1000)
      const kind = (kills.worker + kills.everything) % 2 === 0 ? 'everything' : 'worker'
      kills[kind]++
      if (kind === 'worker') kill(livingWorkers(program).slice(0, 1))
      else {
        killAll(program)
        program = await start()
      }
    }
    const captures = () => history.filter(({ kind, answer }) => kind === 'capture' && answer.status === 201).length
    await expect.poll(() => captures() > 50 && purchases.length > 20, { timeout: 60_000, interval: 20 }).toBe(true)
    isOpen = false
    await Promise.all([loading, buying])

    const judgement = await judge(db, client, shop, history)
    const { lost, doubled, refused, changed, ...figures } = judgement
    process.stdout.write(
      `payments-kill: ${JSON.stringify({ seconds, kills, ...figures, lost: lost.length, doubled: doubled.length })}\n`,
    )
    expect({ lost, doubled, refused, changed }).toEqual({ lost: [], doubled: [], refused: [], changed: [] })
    expect(await findDifferences(db, shop, history)).toEqual([])
    const { wrong, unasked, changed: changedPurchases, ...bought } = await judgePurchases(db, client, shop, purchases)
    process.stdout.write(`payments-kill: ${JSON.stringify(bought)}\n`)
    expect({ wrong, unasked, changed: changedPurchases }).toEqual({ wrong: [], unasked: [], changed: [] })
    // Otherwise nothing was proved: there was load, and it felt the kills.
    expect(bought.purchases).toBeGreaterThan(20)
    expect(bought.triedAgain).toBeGreaterThan(2)
    expect(figures.captures).toBeGreaterThan(50)
    expect(figures.retried).toBeGreaterThan(5)

    const verified = await runTollgate(['payments', 'verify'], env).ended
    expect(verified).toMatchObject({ code: 0, complaints: '', out: expect.stringContaining('no breach') })
  },
  (seconds * 2 + 120) * 1000,
)

/** The process ids of the workers that listen. */
function livingWorkers({ lines }: Program): number[] {
  const pids = (text: string) => lines.filter(message(text)).map(({ pid }) => Number(pid))
  const dead = pids('a worker died; starting another')
  return pids('a worker listens').filter((pid) => !dead.includes(pid))
}

/** The supervisor first, so that it starts nobody else. */
function killAll(program: Program) {
  program.signal('SIGKILL')
  kill(livingWorkers(program))
}

function kill(pids: readonly number[]) {
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL')
    } catch (problem) {
      // It may have died in the meantime.
      if ((problem as NodeJS.ErrnoException).code !== 'ESRCH') throw problem
    }
}
