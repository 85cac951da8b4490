// Builds the embedded assets in internal/page/assets. --check builds into a temporary directory and
// compares bytes; --watch builds on every change.
import { build, context } from 'esbuild'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const here = dirname(fileURLToPath(import.meta.url))
const assets = join(here, '..', 'internal', 'page', 'assets')
/** The maximum script size before the first rendering, in KiB of gzip. Views load their own scripts later. */
const most = 45

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
}

/** The live page, split in chunks; and the saved page, without code that needs the server, also
    without what only a large stack needs. */
function builds(outdir) {
  return [
    { ...common, outdir, entryPoints: { app: 'src/app.ts', page: 'src/page.css' }, format: 'esm', splitting: true, chunkNames: '[name]-[hash]', define: { FILE: 'false', LARGE: 'true' }, metafile: true },
    { ...common, outdir, entryPoints: { file: 'src/file.ts', 'file-style': 'src/file.css', 'file-large': 'src/file-large.css' }, format: 'iife', define: { FILE: 'true', LARGE: 'true' } },
    { ...common, outdir, entryPoints: { 'file-small': 'src/file.ts' }, format: 'iife', define: { FILE: 'true', LARGE: 'false' } },
  ]
}

async function all(outdir) {
  const [live] = await Promise.all(builds(outdir).map((o) => build(o)))
  return live.metafile
}

const names = (dir) => readdirSync(dir).sort()
const packed = (name) => gzipSync(readFileSync(join(assets, name)), { level: 9 }).length / 1024

/** The files that app.js imports statically. */
function first({ outputs }) {
  const files = Object.fromEntries(Object.entries(outputs).map(([path, o]) => [basename(path), o]))
  const load = new Set(['app.js'])
  for (const name of load) for (const i of files[name].imports) if (i.kind === 'import-statement') load.add(basename(i.path))
  return [...load]
}

if (process.argv.includes('--watch')) {
  for (const o of builds(assets)) await (await context({ ...o, logLevel: 'info' })).watch()
} else {
  const check = process.argv.includes('--check'), out = check ? mkdtempSync(join(tmpdir(), 'ui-')) : assets
  try {
    if (!check) for (const name of names(assets)) rmSync(join(assets, name))
    const meta = await all(out)
    const differ = !check ? [] : [...new Set([...names(out), ...names(assets)])].filter((n) => {
      try { return !readFileSync(join(out, n)).equals(readFileSync(join(assets, n))) } catch { return true }
    })
    if (differ.length > 0) {
      console.error(`internal/page/assets is not what ui/ builds: ${differ.join(', ')}; make ui writes it`)
      process.exitCode = 1
    } else {
      for (const name of names(assets)) console.log(`${name}  ${(readFileSync(join(assets, name)).length / 1024).toFixed(1)} KiB, ${packed(name).toFixed(1)} KiB gzip`)
      const js = first(meta).reduce((sum, name) => sum + packed(name), 0)
      console.log(`before it shows something: ${js.toFixed(1)} KiB gzip of script, ${packed('page.css').toFixed(1)} of styles`)
      if (js > most) {
        console.error(`${most} KiB of script are the most`)
        process.exitCode = 1
      }
    }
  } finally {
    if (check) rmSync(out, { recursive: true })
  }
}
