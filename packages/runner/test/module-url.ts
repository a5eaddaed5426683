export function moduleUrl(name: string): string {
  return new URL(`./tasks/${name}.ts`, import.meta.url).href
}
