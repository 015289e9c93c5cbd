import { createServer } from 'node:net'
import { wordListenProblem } from '@tollgate/kit/listen'

/** Finds out before anything is started whether a port can be had, and says in a sentence if not. */
export function checkPort(address: { host: string; port: number }, portSetting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (problem: Error & { code?: string }) => reject(wordListenProblem(problem, { ...address, portSetting })))
    probe.listen(address, () => probe.close(() => resolve()))
  })
}
