/** The theme: the system's until a person chooses one; the choice is kept. */
export function toggleTheme(): void {
  const root = document.documentElement
  const isDark =
    root.dataset['theme'] === undefined
      ? matchMedia('(prefers-color-scheme: dark)').matches
      : root.dataset['theme'] === 'dark'
  root.dataset['theme'] = isDark ? 'light' : 'dark'
  localStorage.setItem('q-theme', root.dataset['theme'])
}
