import type { Claims, Provider } from './provider.ts'
import { fields, flag, idOf, oneEmail, text, told } from './read-profile.ts'

const images = 'https://cdn.discordapp.com'

/** https://discord.com/developers/docs/topics/oauth2 and https://discord.com/developers/docs/resources/user */
export const discord: Provider = {
  name: 'discord',
  base: 'https://discord.com',
  api: (base) => `${base}/api`,
  authorize: '/api/oauth2/authorize',
  token: '/api/oauth2/token',
  scopes: ['email', 'identify'],

  async profile({ get, api }) {
    const user = fields(await get(`${api}/users/@me`))
    const subject = idOf(user.id, 'discord')
    const [username, discriminator] = [text(user.username), text(user.discriminator)]
    return {
      subject,
      emails: oneEmail(user.email, flag(user.verified)),
      // Who has moved to a name that nobody else may have keeps the number 0.
      name: username && discriminator ? `${username}#${discriminator}` : username,
      username,
      avatar: avatarOf(subject, user),
      customClaims: told({ global_name: text(user.global_name) }),
    }
  },
}

function avatarOf(id: string, user: Claims): string {
  const hash = text(user.avatar)
  if (hash === undefined) return `${images}/embed/avatars/${Number(user.discriminator) % 5 || 0}.png`
  // What moves says so at the start of its hash.
  const kind = hash.startsWith('a_') ? 'gif' : 'png'
  return `${images}/avatars/${encodeURIComponent(id)}/${encodeURIComponent(hash)}.${kind}`
}
