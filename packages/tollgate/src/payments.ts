import { runServiceCommand } from './commands.ts'
import { runToEnd } from './end.ts'
import { paymentsCommands } from './payments-commands.ts'

/** The entry of a container that runs the payments service alone. */
await runToEnd(() => runServiceCommand(paymentsCommands, process.argv.slice(2)))
