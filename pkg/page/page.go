// Package page is the page: its built assets, which ui/ makes, and the self-contained file that
// shows a view.Picture without a server.
package page

import (
	"embed"
	"io"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

//go:embed assets
var assets embed.FS

// Asset returns app.js or page.css.
func Asset(name string) ([]byte, error) { return assets.ReadFile("assets/" + name) }

// Shell returns the document of the live page. It holds no data.
func Shell() []byte { return nil }

// File writes one document that shows the Picture, opens from disk, and asks nobody.
func File(w io.Writer, p *view.Picture) error { return nil }
