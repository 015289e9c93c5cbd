import type { App } from '../app.ts'
import { mostSeen } from '../meters.ts'
import { countWaiting } from '../store/messages.ts'

/** Tells those who watch the service how many messages wait, and for how long: whatever they wait for, and whoever should have sent them. */
export async function watchMessages({ db, meters }: Pick<App, 'db' | 'meters'>): Promise<void> {
  meters.waiting(await countWaiting(db, mostSeen))
}
