import type { Read } from '@tollgate/kit/env'
import { smtpSettings } from '@tollgate/kit/smtp-settings'

/** How people are told that they were invited. Without a mail server they are not. */
export function mailSettings(read: Read) {
  return read.group('Mail', () => {
    const smtp = smtpSettings(read, { prefix: 'PAY' })
    const siteUrl = read.url('SITE_URL', '', 'Where people sign in: what invitations link to', {
      required: { when: smtp.host !== '', because: 'PAY_SMTP_HOST is set' },
    })
    return { siteUrl, smtp }
  })
}
