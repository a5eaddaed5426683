/**
 * The page as static files for @q/server. Nothing is inlined, so that the strictest content security policy holds: no inline
 * script, no inline style, no data URL.
 */
import { fileURLToPath } from 'node:url'
import { defaultClientConditions, type UserConfig } from 'vite'

const config: UserConfig = {
  root: fileURLToPath(new URL('.', import.meta.url)),
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
    // Libraries mark modules for server components, which there are none of here.
    rolldownOptions: { onLog: (level, log, print) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && print(level, log) },
  },
}

export default config
