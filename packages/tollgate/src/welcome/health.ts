import type { Facts } from './facts.ts'

export type Health = { name: string; healthy: boolean; said: string }

const patience = 1_000

/** Asked from here, not from the browser, so that the services need not let other origins in. */
export function checkHealth(services: Facts['services']): Promise<Health[]> {
  return Promise.all(
    services.map(async ({ name, url }) => {
      try {
        const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(patience) })
        await answer.body?.cancel()
        return { name, healthy: answer.ok, said: answer.ok ? 'Running' : `Answers ${answer.status}` }
      } catch {
        return { name, healthy: false, said: 'Not answering' }
      }
    }),
  )
}
