package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// loader unpacks the Picture, the styles and the code of a file, and runs it. It, the styles and the
// code are taken since the policy of the file has their hashes; nothing else is, wherever it comes
// from.
const loader = `(async () => {
const digits = '` + digits + `'
const trusted = self.trustedTypes ? trustedTypes.createPolicy('file', { createScript: (s) => s }) : { createScript: (s) => s }
const unpack = async (id) => {
const text = document.getElementById(id).textContent, bytes = new Uint8Array(Math.floor(text.length * 4 / 5))
for (let i = 0, at = 0; i < text.length; i += 5) {
let v = 0
for (let j = 0; j < 5; j++) v = v * 85 + (i + j < text.length ? digits.indexOf(text[i + j]) : 84)
for (let j = 24; j >= 0 && at < bytes.length; j -= 8) bytes[at++] = v >>> j & 255
}
return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text()
}
const style = document.createElement('style'), code = document.createElement('script')
style.textContent = await unpack('style')
document.getElementById('picture').textContent = trusted.createScript(await unpack('picture'))
code.textContent = trusted.createScript(await unpack('code'))
document.head.append(style, code)
})().catch(() => {
document.getElementById('page').textContent = 'This browser cannot unpack the page. Chrome 80, Edge 80, Firefox 113, Safari 16.4 or newer can.'
})`

// File writes one document that shows the Picture, opens from disk, and asks nobody. All that
// it needs is in it, packed: gzip in digits (pack.go), so that nothing a cluster says is text of the document,
// but for the title. The same Picture gives the same bytes.
//
// A file is mailed around: what it may not hold, the Picture may not hold.
func File(w io.Writer, p *view.Picture) error {
	same, err := build()
	if err != nil {
		return err
	}
	return same.write(w, p)
}

// parts are what is the same in every file.
type parts struct {
	policy      string
	style, code string // packed
}

func build() (*parts, error) {
	code, err := Asset("file.js")
	if err != nil {
		return nil, err
	}
	style, err := Asset("page.css")
	if err != nil {
		return nil, err
	}
	same := &parts{policy: policy(style, code)}
	if same.style, err = pack(style); err != nil {
		return nil, err
	}
	same.code, err = pack(code)
	return same, err
}

func (same *parts) write(w io.Writer, p *view.Picture) error {
	shown := *p
	shown.Mode = "file"
	data, err := json.Marshal(&shown)
	if err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	picture, err := pack(data)
	if err != nil {
		return fmt.Errorf("pack the picture: %w", err)
	}
	// The policy holds for what comes after it.
	_, err = fmt.Fprintf(w, `%s<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="referrer" content="no-referrer">
%s<title>%s</title>
</head>
<body>
<div id="page"></div>
<noscript>This page draws what is in it, which takes JavaScript. It asks nobody for anything.</noscript>
<script type="text/plain" id="picture">%s</script>
<script type="text/plain" id="style">%s</script>
<script type="text/plain" id="code">%s</script>
<script>%s</script>
</body>
</html>
`, head, same.policy, mark, title(p.Title), picture, same.style, same.code, loader)
	return err
}

// policy allows what has the hash of what is written here.
func policy(style, code []byte) string {
	return fmt.Sprintf("default-src 'none'; script-src '%s' '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'; "+
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

// hidden tells what nobody sees: controls, what changes directions, what has no meaning.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}
