import { expect, test } from 'vitest'
import { parseWebsite } from './website.ts'

test.each([
  'test.com',
  'www.test.com/shop?id=1#top',
  'test.com:8080',
  'localhost:3000',
  '127.0.0.1:8080',
  'http://localhost',
  'https://shop.test',
  'HTTPS://Shop.Test/Path',
  'https://smørrebrød.dk',
  'smørrebrød.dk',
  'https://[::1]:8080/',
])('%s is a website', (text) => {
  expect(parseWebsite(text)).toBe(text)
})

test('blanks around a website are taken off', () => {
  expect(parseWebsite(' \n test.com\t')).toBe('test.com')
})

test.each([
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'javascript:80',
  'javascript://test.com/%0aalert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'vbscript:80',
  'mailto:shop@test.com',
  'ftp://test.com',
  '//test.com',
  'https:/test.com',
  'https:///test.com',
  'https:\\\\test.com',
  'https://',
  'https://user:secret@test.com',
  'shop@test.com',
  'not a website',
  'test',
  '.com',
  'test.com">',
  "test.com'onclick",
  'https://test.com:99999',
  'https://te%00st.com',
  '',
  '   ',
])('%j is none', (text) => {
  expect(parseWebsite(text)).toBeUndefined()
})
