import { stripPhone } from './phone.ts'

/** `4512345678:123456,+45 87654321:654321`: numbers that get no SMS, and the code that each accepts. */
export function parseTestCodes(text: string): ReadonlyMap<string, string> | { expected: string } {
  const codes = new Map<string, string>()
  for (const entry of text.split(',')) {
    if (entry.trim() === '') continue
    const [, phone = '', code = ''] = /^([^:=]+)[:=](.+)$/.exec(entry.trim()) ?? []
    const digits = stripPhone(phone.trim())
    if (!/^[1-9]\d{1,14}$/.test(digits) || !/^\d{4,10}$/.test(code.trim()))
      return { expected: 'pairs of a number and a code of 4 to 10 digits, divided by commas' }
    codes.set(digits, code.trim())
  }
  return codes
}
