import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { testServer } from '@q/testing'
import { maintenance } from '../src/maintenance.ts'
import { holdTemplate, type DatabaseTemplate } from '../src/template.ts'

const { url, stop } = await testServer()
const server = await maintenance(url)
const made: string[] = []
afterAll(async () => {
  for (const name of made) await server.drop(name, 'force')
  await server[Symbol.asyncDispose]()
  await stop()
})

test('a template is built once, however many processes request it at the same time', async () => {
  const template = fresh()
  const holders = await Promise.all(Array.from({ length: 4 }, () => maintenance(url)))
  await Promise.all(holders.map((holder) => holdTemplate(holder, url, template)))
  expect(template.filled).toBe(1)
  expect(await server.has(template.name)).toBe(true)
  await Promise.all(holders.map((holder) => holder[Symbol.asyncDispose]()))
})

test('a template whose builder died is built again', async () => {
  const template = fresh()
  await server.create(`${template.name}_new`)
  await using holder = await maintenance(url)
  await holdTemplate(holder, url, template)
  expect(template.filled).toBe(1)
  expect(await server.databases(template.name)).toEqual([template.name])
})

test('a template that failed to build is not used, and the next request builds it again', async () => {
  const template = fresh()
  await using holder = await maintenance(url)
  const broken = { ...template, fill: () => Promise.reject(new Error('syntax error')) }
  await expect(holdTemplate(holder, url, broken)).rejects.toThrow('syntax error')
  expect(await server.has(template.name)).toBe(false)
  await holdTemplate(holder, url, template)
  expect(await server.has(template.name)).toBe(true)
})

test('building a template drops the unused ones and no others', async () => {
  const [abandoned, held, newest] = [fresh(), fresh(), fresh()]
  await using holder = await maintenance(url)
  await holdTemplate(holder, url, held)
  {
    await using other = await maintenance(url)
    await holdTemplate(other, url, abandoned)
  }
  await using builder = await maintenance(url)
  await holdTemplate(builder, url, newest)
  expect(await server.has(abandoned.name)).toBe(false)
  expect(await server.has(held.name)).toBe(true)
})

function fresh(): DatabaseTemplate & { filled: number } {
  const template = {
    name: `q_template_t${randomBytes(6).toString('hex')}`,
    filled: 0,
    fill: async () => void template.filled++,
  }
  made.push(template.name, `${template.name}_new`)
  return template
}
