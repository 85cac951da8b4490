package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// loader unpacks the code of a file and runs it. It and the code may run since the policy of the
// file has their hashes; nothing else may, wherever it comes from.
const loader = `(async () => {
const bytes = Uint8Array.from(atob(document.getElementById('code').textContent), (c) => c.charCodeAt(0))
const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text()
const script = document.createElement('script')
script.textContent = self.trustedTypes ? trustedTypes.createPolicy('file', { createScript: (s) => s }).createScript(text) : text
document.head.append(script)
})().catch(() => {
document.getElementById('page').textContent = 'This browser cannot unpack the page. Chrome 80, Edge 80, Firefox 113, Safari 16.4 or newer can.'
})`

// File writes one document that shows the Picture, opens from disk, and asks nobody: the styles
// are in it, the code is packed, and the Picture is there as JSON for other programs to read. The
// same Picture gives the same bytes.
//
// A file is mailed around: what it may not hold, the Picture may not hold.
func File(w io.Writer, p *view.Picture) error {
	code, err := Asset("file.js")
	if err != nil {
		return err
	}
	style, err := Asset("page.css")
	if err != nil {
		return err
	}
	packed, err := pack(code)
	if err != nil {
		return fmt.Errorf("pack the code of the page: %w", err)
	}
	shown := *p
	shown.Mode = "file"
	data, err := json.Marshal(&shown) // It escapes <, >, & and U+2028, U+2029.
	if err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	// A policy first: it holds for what comes after it.
	_, err = fmt.Fprintf(w, `%s<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>%s</style>
</head>
<body>
<div id="page"></div>
<noscript>This page draws what is in it, which takes JavaScript. It asks nobody for anything.</noscript>
<script type="application/json" id="picture">%s</script>
<script type="text/plain" id="code">%s</script>
<script>%s</script>
</body>
</html>
`, head, policy(style, code), title(p.Title), style, visible(data), packed, loader)
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

func pack(code []byte) (string, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(code); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
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

// visible escapes in a JSON text what nobody sees: who looks at the file in a terminal, or in an
// editor, is told no other story than the page tells. Such runes can only stand in strings.
func visible(data []byte) []byte {
	if !bytes.ContainsFunc(data, hidden) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case !hidden(r):
			out = append(out, data[:n]...)
		case r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default: // Beyond are tags, which say nothing.
			out = append(out, `\ufffd`...)
		}
		data = data[n:]
	}
	return out
}

// hidden tells controls and what changes directions.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}
