import Type from 'typebox'

/** 24 hex digits, the first eight of which are the second in which the thing was made. */
export const Id = Type.String({ pattern: '^[0-9a-f]{24}$', description: '24 hex digits' })

export const AppName = Type.String({ minLength: 1, maxLength: 200, description: 'Shown instead of the key' })
