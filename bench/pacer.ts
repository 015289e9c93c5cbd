import { parentPort, workerData } from 'node:worker_threads'

/** What a thread of its own is told: timers of the event loop are a millisecond coarse, too coarse for latencies below one. */
export type Pace = { rate: number; seconds: number }

const { rate, seconds } = workerData as Pace
const sleepingPlace = new Int32Array(new SharedArrayBuffer(4))

parentPort?.once('message', (start: bigint) => {
  const total = Math.floor(rate * seconds)
  for (let due = 0; due < total; ) {
    const elapsed = Number(process.hrtime.bigint() - start) / 1e9
    const now = Math.min(total, Math.floor(elapsed * rate) + 1)
    if (now > due) parentPort?.postMessage(now - due)
    due = now
    Atomics.wait(sleepingPlace, 0, 0, Math.max(0, due / rate - elapsed) * 1000)
  }
  parentPort?.postMessage('over')
})
parentPort?.postMessage('ready')
