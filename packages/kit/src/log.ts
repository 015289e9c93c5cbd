import { appendFileSync, writeSync } from 'node:fs'
import { type Level, type Logger, pino } from 'pino'

export const logLevels = ['panic', 'fatal', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

export type RequestLine = {
  request_id: string
  method: string
  route: string
  status: number
  ms: number
  peer: string
  trace_id?: string
}

export type Log = Pick<Logger<'panic'>, LogLevel> & {
  /** The most frequent line by far, so it is put together by hand, at a third of what the general way costs. */
  request(line: RequestLine): void
  /** Writes what is still waiting; for the moment before the process ends. */
  flush(): void
}

type Sink = { write(line: string): void; flush(): void }

/**
 * One JSON object a line. Values of type Secret print as a placeholder wherever they stand, so nothing has to be listed
 * for redaction.
 */
export function createLog(settings: { level: LogLevel; file?: string | undefined; service: string; sink?: Sink }): Log {
  const sink = settings.sink ?? batchingSink(settings.file === undefined ? writeToStdout() : appendTo(settings.file))
  const logger = pino<'panic'>(
    {
      level: settings.level as Level,
      customLevels: { panic: 70 },
      base: { service: settings.service },
      messageKey: 'message',
      errorKey: 'error',
      serializers: { error: serializeError },
      timestamp: stamp,
      formatters: { level: (label) => ({ level: label }) },
    },
    sink,
  )
  const wanted = { info: logger.isLevelEnabled('info'), error: logger.isLevelEnabled('error') }
  const service = JSON.stringify(settings.service)
  return Object.assign(logger, {
    request(line: RequestLine) {
      const level = line.status >= 500 ? 'error' : 'info'
      if (wanted[level])
        sink.write(
          `{"level":"${level}"${stamp()},"service":${service},${JSON.stringify(line).slice(1, -1)},"message":"request"}\n`,
        )
    },
    flush: () => sink.flush(),
  }) as unknown as Log
}

let stamped = { moment: 0, text: '' }

/** Many lines are written within a millisecond, and writing a date is not cheap. */
function stamp(): string {
  const moment = Date.now()
  if (stamped.moment !== moment) stamped = { moment, text: `,"time":"${new Date(moment).toISOString()}"` }
  return stamped.text
}

/** Lines of one moment leave in one write: a system call a line would cost more than the request it tells of. */
function batchingSink(out: (text: string) => void): Sink {
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (waiting === '') return
    const text = waiting
    waiting = ''
    out(text)
  }
  return {
    write(line) {
      waiting += line
      if (waiting.length > 16_384) flush()
      // Not unref'd: a process that has nothing left to do stays these milliseconds to say its last words.
      else timer ??= setTimeout(flush, 50)
    },
    flush,
  }
}

/** A reader that has gone away (`| head`) must not take the service down with it. */
const ignore = () => {}

function writeToStdout(): (text: string) => void {
  if (!process.stdout.listeners('error').includes(ignore)) process.stdout.on('error', ignore)
  return (text) => void process.stdout.write(text)
}

/**
 * The file is opened for every batch, so that one which is moved away by a rotation is followed by a new one, and written
 * at once, so that the last words before an exit are in it. A full disk or a missing folder is told once on standard
 * error, and again when it happens after having been well.
 */
function appendTo(file: string): (text: string) => void {
  let well = true
  return (text) => {
    try {
      appendFileSync(file, text, { mode: 0o640 })
      well = true
    } catch (problem) {
      if (well) complain(`tollgate: lines are lost because the log file cannot be written: ${(problem as Error).message}\n`)
      well = false
    }
  }
}

function complain(line: string) {
  try {
    writeSync(2, line)
  } catch {
    // There is nobody left to tell.
  }
}

/** PostgreSQL quotes the row that it refuses; what people entrusted to us stays out of the log. */
function serializeError(error: unknown): unknown {
  const told = error instanceof Error ? { ...pino.stdSerializers.err(error) } : error
  if (typeof told === 'object' && told !== null && 'detail' in told && /^(Failing row|Key \()/.test(String(told.detail)))
    return { ...told, detail: '[row]' }
  return told
}
