// How the page says things: health by glyph and word, relations by word, money, quantities, ages.

/** Health by its number in a Picture, the best first. */
export const health = [
  { word: '', glyph: '', tone: 'none' },
  { word: 'Healthy', glyph: '✔', tone: 'good' },
  { word: 'Suspended', glyph: '‖', tone: 'faint' },
  { word: 'Unknown', glyph: '?', tone: 'faint' },
  { word: 'Progressing', glyph: '◌', tone: 'info' },
  { word: 'Missing', glyph: '○', tone: 'bad' },
  { word: 'Degraded', glyph: '✖', tone: 'bad' },
] as const

/** From this number on something is wrong that somebody should look at. */
export const trouble = 4

export const relations = ['', 'owns', 'needs', 'serves'] as const
