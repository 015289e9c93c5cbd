import { load, type Order } from './load.ts'

// A process of its own, so that what the load costs is not taken for what the server costs, and neither waits for the harness.
process.on('message', (order: Order) => {
  load(order).then((outcome) => process.send?.(outcome))
})
process.on('disconnect', () => process.exit())
// Ctrl-C reaches the whole group; the harness decides in which order its processes go.
process.on('SIGINT', () => {})
