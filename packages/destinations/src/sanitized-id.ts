/** An id without characters that mean something in keys, markdown or shells. */
const idLengthMax = 100

export function sanitizedId(id: string): string {
  return id.replaceAll(/[^\w.-]/g, '_').slice(0, idLengthMax) || '_'
}
