export type Encoding = 'br' | 'gzip' | 'identity'

/** The smallest that a browser takes. https://www.rfc-editor.org/rfc/rfc9110#name-accept-encoding */
export function chooseEncoding(accepted: string | string[] | undefined): Encoding {
  const wishes = new Map(
    String(accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((wish) => {
        const [name = '', ...parameters] = wish.split(';').map((part) => part.trim())
        return [name, !parameters.some((each) => /^q=0(\.0*)?$/.test(each))] as const
      }),
  )
  const takes = (name: string) => wishes.get(name) ?? wishes.get('*') ?? false
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : 'identity'
}
