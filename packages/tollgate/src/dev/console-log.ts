import { createLog, type Log, type LogLevel } from '@tollgate/kit/log'

const colours: Record<string, string> = { panic: '31', fatal: '31', error: '31', warn: '33', info: '36', debug: '90' }

/** The same log lines as in production, put into words for the person in front of the terminal. */
export function consoleLog(service: string, level: LogLevel): Log {
  return createLog({ level, service, sink: { write: (line) => void process.stdout.write(`${humanLine(line)}\n`), flush() {} } })
}

function humanLine(line: string): string {
  const { level, time, service, message, method, route, status, ms, error, ...rest } = JSON.parse(line)
  const clock = String(time).slice(11, 19)
  const head = `${clock} ${paint(String(service).padEnd(9), colours[level] ?? '0')}`
  if (message === 'request')
    return `${head} ${method} ${route} ${status} ${ms} ms${status >= 500 ? `  request ${rest.request_id}` : ''}`
  const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : ''
  return `${head} ${level === 'info' ? '' : `${level}: `}${message}${details}${error ? `\n${error.stack ?? error.message ?? error}` : ''}`
}

function paint(text: string, colour: string): string {
  return process.stdout.isTTY ? `\x1b[${colour}m${text}\x1b[0m` : text
}
