package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// loader unpacks the UIState, the styles and the code of a file, and runs it. It, the styles and the
// code are taken since the policy of the file has their hashes; nothing else is, wherever it comes
// from.
const loader = `(async () => {
const part = (id) => document.getElementById(id), safe = (self.trustedTypes ?? { createPolicy: (_, p) => p }).createPolicy('file', { createScript: (s) => s })
const read = async (id) => {
const all = [], out = []
for (const c of part(id).textContent) {
const u = c.charCodeAt(), v = u < 198 && u > 191 ? u + 1344 : [1564, 1757, 1807][u - 198] ?? u, d = (n, x) => (x / n | 0) % 112
if (v < 127) all.push(v - 33 - (v > 60))
else if (v < 2048) all.push(93 + d(112, v - 256), d(1, v - 256))
else all.push(109 + d(12544, v - 13312), d(112, v - 13312), d(1, v - 13312))
}
let sum = 0, bits = 0
for (let i = 1; i + 5 <= all.length; i += 5) {
sum += all.slice(i, i + 5).reduceRight((v, s) => v * 112 + s) * 2 ** bits
for (bits += 34; bits > 7; bits -= 8) out.push(sum % 256), sum = Math.floor(sum / 256)
}
out.length -= all[0]
return new Response(new Blob([new Uint8Array(out)]).stream().pipeThrough(new DecompressionStream('gzip'))).text()
}
const style = document.createElement('style'), code = document.createElement('script'), [script, css] = (await read('code')).split('\0')
style.textContent = css
part('picture').textContent = safe.createScript(await read('picture'))
code.textContent = safe.createScript(script)
document.head.append(style, code)
})().catch(() => {
document.getElementById('page').textContent = 'This browser cannot unpack it. Chrome 80, Firefox 113, Safari 16.4 or newer can.'
})`

// File writes one document that shows the UIState, opens from disk, and makes no request. It
// contains all that it needs, packed: gzip as text (pack.go), so that no text from a cluster is
// text of the document, except the title. The same UIState gives the same bytes.
//
// A file is mailed around: the UIState must not hold what the file must not hold.
func File(w io.Writer, p *uistate.State) error {
	same, err := build(script(p))
	if err != nil {
		return err
	}
	return same.write(w, p)
}

// parts are what is the same in every file.
type parts struct {
	policy string
	code   string // and the styles, packed
}

const (
	// largeStack is the number of objects from which a stack is shown by its parts (ui/src/tree_rows.ts).
	largeStack = 120
	// fewStacks is up to how many stacks the map gives each depth one column (ui/src/map_layout.ts).
	fewStacks = 4
)

// script is the code that a file needs: without a large stack, many stacks or an impact, none of what
// shows these.
func script(p *uistate.State) string {
	if p.Impact != nil || len(p.Stacks) > fewStacks || slices.ContainsFunc(p.Stacks, func(s uistate.Stack) bool { return len(s.Tree) > largeStack }) {
		return "file.js"
	}
	return "file-small.js"
}

func build(script string) (*parts, error) {
	code, err := Asset(script)
	if err != nil {
		return nil, err
	}
	style, err := Asset("file-style.css")
	if err != nil {
		return nil, err
	}
	if script == "file.js" {
		large, err := Asset("file-large.css")
		if err != nil {
			return nil, err
		}
		style = append(style, large...)
	}
	// Neither has a NUL in it; packed together they are smaller.
	packed, err := pack(bytes.Join([][]byte{code, style}, []byte{0}))
	return &parts{policy: policy(style, code), code: packed}, err
}

func (same *parts) write(w io.Writer, p *uistate.State) error {
	shown := *p
	shown.Mode = "file"
	data, err := json.Marshal(&shown)
	if err != nil {
		return fmt.Errorf("write the UI state: %w", err)
	}
	picture, err := pack(data)
	if err != nil {
		return fmt.Errorf("pack the UI state: %w", err)
	}
	// The policy holds for what comes after it.
	_, err = fmt.Fprintf(w, `%s<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="referrer" content="no-referrer">
<title>%s</title>
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript. It sends no requests.</noscript>
<script type="text/plain" id="picture">%s</script>
<script type="text/plain" id="code">%s</script>
<script>%s</script>
</body>
</html>
`, head, same.policy, title(p.Title), picture, same.code, loader)
	return err
}

// policy allows what has the hash of what is written here.
func policy(style, code []byte) string {
	return fmt.Sprintf("default-src 'none'; script-src '%s' '%s'; style-src '%s'; base-uri 'none'; form-action 'none'; "+
		"require-trusted-types-for 'script'; trusted-types file", hash([]byte(loader)), hash(code), hash(style))
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// title is text for a title, on one line.
func title(text string) string {
	text = strings.Map(func(r rune) rune {
		if hidden(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return html.EscapeString(text)
}

// hidden reports whether a rune is invisible: a control, a change of direction, or a rune without
// meaning.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}
