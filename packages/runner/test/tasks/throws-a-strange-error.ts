/** Its import throws an error that cannot be read as one. */
const strange = new Error('never shown')
const refuse = () => {
  throw new Error('This error does not want to be read.')
}
for (const name of ['name', 'message', 'stack']) Object.defineProperty(strange, name, { get: refuse })
throw strange
