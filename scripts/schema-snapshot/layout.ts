/** Line breaks of the server's pretty printer, laid out our way. One inside a literal is content: such a text is kept. */
export function oneLine(expression: string): string {
  return breaksLiteral(expression) ? expression : expression.replaceAll(/\(\s*\n\s*/g, '(').replaceAll(/\s*\n\s*/g, ' ')
}

export function indented(definition: string): string {
  return breaksLiteral(definition) ? definition : definition.replaceAll('\n', '\n    ')
}

function breaksLiteral(text: string): boolean {
  return (text.match(/'[^']*'/g) ?? []).some((literal) => literal.includes('\n'))
}
