// Builds what is embedded in the program: pkg/page/assets. With --check it builds anew beside and
// compares bytes; with --watch it builds on every change.
import { build, context } from 'esbuild'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const here = dirname(fileURLToPath(import.meta.url))
const assets = join(here, '..', 'pkg', 'page', 'assets')
/** In KiB, gzip: what a browser loads of the live page. */
const most = 40

function options(outdir) {
  return {
    absWorkingDir: here,
    entryPoints: { app: 'src/app.ts', file: 'src/file.ts', page: 'src/page.css' },
    outdir,
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  }
}

function names(dir) { return readdirSync(dir).sort() }

if (process.argv.includes('--watch')) {
  await (await context({ ...options(assets), logLevel: 'info' })).watch()
} else if (process.argv.includes('--check')) {
  const out = mkdtempSync(join(tmpdir(), 'ui-'))
  try {
    await build(options(out))
    const differ = [...new Set([...names(out), ...names(assets)])].filter((n) => {
      try { return !readFileSync(join(out, n)).equals(readFileSync(join(assets, n))) } catch { return true }
    })
    if (differ.length > 0) {
      console.error(`pkg/page/assets is not what ui/ builds: ${differ.join(', ')}; make ui writes it`)
      process.exitCode = 1
    }
  } finally {
    rmSync(out, { recursive: true })
  }
} else {
  await build(options(assets))
}

if (!process.argv.includes('--watch')) {
  for (const name of names(assets)) {
    const bytes = readFileSync(join(assets, name))
    console.log(`${name}  ${(bytes.length / 1024).toFixed(1)} KiB, ${(gzipSync(bytes, { level: 9 }).length / 1024).toFixed(1)} KiB gzip`)
  }
  const js = gzipSync(readFileSync(join(assets, 'app.js')), { level: 9 }).length
  if (js > most * 1024) {
    console.error(`app.js has ${(js / 1024).toFixed(1)} KiB gzip, and ${most} are the most`)
    process.exitCode = 1
  }
}
