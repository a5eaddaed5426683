/**
 * The page as static files for @q/server. Nothing is inlined, so that the strictest content security policy holds: no inline
 * script, no inline style, no data URL.
 */
import { fileURLToPath } from 'node:url'
import { defaultClientConditions, type Plugin, type UserConfig } from 'vite'

const jsxRuntime = 'react/jsx-runtime'
const byName = `\0${jsxRuntime}`

/** React ships its JSX functions as CommonJS, which makes every element a call on a module object; by name they are a kilobyte less. */
const jsxByName: Plugin = {
  name: 'jsx-by-name',
  enforce: 'pre',
  resolveId: (id, importer) => (id === jsxRuntime && importer !== byName ? byName : null),
  load: (id) =>
    id === byName ? `import runtime from '${jsxRuntime}'\nexport const { jsx, jsxs, Fragment } = runtime` : null,
}

const config: UserConfig = {
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [jsxByName],
  // `vite` serves the page for development; the API is the one of a running server.
  server: { host: '127.0.0.1', proxy: { '/api': process.env.Q_PAGE_API ?? 'http://127.0.0.1:7780' } },
  // Of the other packages of q, their sources, which need no build.
  resolve: { conditions: ['@q/source', ...defaultClientConditions] },
  build: {
    outDir: fileURLToPath(new URL('../server/page', import.meta.url)),
    emptyOutDir: true,
    target: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      // Libraries mark modules for server components, which there are none of here.
      onLog: (level, log, print) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && print(level, log),
      // What every page loads is one file: it compresses better than two that are always loaded together.
      output: { codeSplitting: { groups: [{ name: 'page', tags: ['$initial'] }] } },
    },
  },
}

export default config
