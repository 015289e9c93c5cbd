import type { Read } from './env.ts'

/** How a service reaches its mail server. Without `required`, a service may do without one; with one, it needs an address of its own. */
export function smtpSettings(
  read: Read,
  { prefix, required }: { prefix: string; required?: { when: boolean; because: string } },
) {
  const host = read.text('SMTP_HOST', '', 'The mail server', { ...(required ? { required } : {}), example: 'smtp.example.com' })
  const port = read.whole('SMTP_PORT', 587, 'The port of the mail server', {
    ...(required ? { required } : {}),
    min: 1,
    max: 65_535,
    example: '587',
  })
  const user = read.text('SMTP_USER', undefined, 'The user name at the mail server')
  const pass = read.secret('SMTP_PASS', 'The password at the mail server')
  const adminEmail = read.text('SMTP_ADMIN_EMAIL', '', 'The address that mails come from', {
    required: required ?? { when: host !== '', because: `${prefix}_SMTP_HOST is set` },
    example: 'no-reply@example.com',
  })
  const senderName = read.text('SMTP_SENDER_NAME', adminEmail, 'The name that mails come from', {
    shown: `${prefix}_SMTP_ADMIN_EMAIL`,
  })
  return { host, port, user, pass, adminEmail, senderName }
}
