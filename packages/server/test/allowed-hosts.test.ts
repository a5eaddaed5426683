import { expect, onTestFinished, test } from 'vitest'
import { allowedHosts } from '../src/http/allowed-hosts.ts'
import { serverScene } from './scene.ts'

test.each([
  ['LOCALHOST', 'localhost'],
  ['0:0:0:0:0:0:0:1', '[::1]'],
])('a server whose address is written as %s answers to %s', async (address, name) => {
  const scene = await serverScene({ address, tokenFile: 'chosen by a person' })
  onTestFinished(scene.close)
  const { port, url } = scene.server
  expect(url).toBe(`http://${name}:${port}`)
  const headers = { Origin: url, Authorization: `Bearer ${scene.tokens.read}` }
  expect(await fetch(`${url}/api/tasks`, { headers })).toMatchObject({ status: 200 })
})

test('on port 80 a browser leaves the port out of Host and Origin', () => {
  const hosts = allowedHosts({ address: 'FD00::1', port: 80, origin: 'https://q.example.com' })
  expect(hosts.get('[fd00::1]')).toBe('http://[fd00::1]')
  expect(hosts.get('[fd00::1]:80')).toBe('http://[fd00::1]')
  expect(hosts.get('q.example.com')).toBe('https://q.example.com')
})
