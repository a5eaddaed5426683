/** Text of users made visible: control characters and ANSI sequences are shown in caret notation instead of acting. */
// eslint-disable-next-line no-control-regex
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

export function visibleText(text: string): string {
  return text.replace(invisible, (character) => {
    const code = character.charCodeAt(0)
    if (code < 0x20) return `^${String.fromCharCode(code + 64)}`
    return code === 0x7f ? '^?' : `\\u${code.toString(16).padStart(4, '0')}`
  })
}
