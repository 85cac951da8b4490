// Loads a module of src/ in node, bundled by esbuild as for the page.
import { buildSync } from 'esbuild'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const src = fileURLToPath(new URL('../src/', import.meta.url))

export async function load(file) {
  const dir = mkdtempSync(join(tmpdir(), 'ui-test-'))
  try {
    const out = join(dir, 'module.mjs')
    buildSync({ absWorkingDir: src, entryPoints: [file], outfile: out, bundle: true, format: 'esm', target: 'es2022', jsx: 'automatic', jsxImportSource: 'preact', define: { FILE: 'false', LARGE: 'true' }, logLevel: 'warning' })
    return await import(pathToFileURL(out))
  } finally {
    rmSync(dir, { recursive: true })
  }
}
