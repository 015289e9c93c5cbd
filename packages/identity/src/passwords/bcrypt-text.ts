const ordinary = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const bcrypts = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const translation = new Map([...bcrypts].map((character, place) => [character, ordinary[place] as string]))

/** bcrypt has a base64 of its own: the same idea, another order of characters. */
export function decodeBcrypt(text: string): Buffer {
  return Buffer.from(
    text.replace(/./g, (character) => translation.get(character) ?? ''),
    'base64',
  )
}
