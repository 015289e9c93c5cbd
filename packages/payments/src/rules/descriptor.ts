/** As published, for clients compare it. */
export const invalidDescriptor = 'Invalid descriptor (see https://github.com/paylike/descriptor)'
