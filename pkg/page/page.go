// Package page is the page: its built assets, which ui/ makes, and the self-contained file that
// shows a view.Picture without a server.
package page

import "embed"

//go:embed assets
var assets embed.FS
