// The one that serves the page: how it is asked, and how it tells what changes.

import type { Page, Server } from './page.ts'
import type { Picture } from './picture.ts'

/** Hands the first Picture to open, and every change to the page that open returns. */
export async function connect(_open: (picture: Picture, server: Server) => Page): Promise<void> {
  throw new Error('not connected')
}
