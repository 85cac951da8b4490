// Package page is the page: its built assets, which ui/ makes, and the self-contained file that
// shows a uistate.State without a server.
package page

import (
	"embed"
	"strings"
)

//go:embed assets
var assets embed.FS

// Asset returns an asset by its name: app.js and what it imports, page.css, or file.js.
func Asset(name string) ([]byte, error) { return assets.ReadFile("assets/" + name) }

// Live returns the names of the assets that the live page loads, in order.
func Live() ([]string, error) {
	entries, err := assets.ReadDir("assets")
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "file") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// head is what both documents begin with.
const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
`

// mark is the icon, in the document so that a browser does not ask for one.
const mark = `<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M4 4l8 3M4 4l2 8' stroke='%23678' stroke-width='2'/%3E%3Ccircle cx='4' cy='4' r='3' fill='%23268'/%3E%3Ccircle cx='12' cy='7' r='3' fill='%23286'/%3E%3Ccircle cx='6' cy='12' r='3' fill='%23a62'/%3E%3C/svg%3E">
`

// Shell returns the document of the live page. It holds no data, and nothing inline.
func Shell() []byte {
	return []byte(head + mark + `<title>System Operator</title>
<link rel="stylesheet" href="/page.css">
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript to draw what kubectl sysop ui sends. Without it, kubectl sysop graph, health and metrics show the same in a terminal.</noscript>
<script type="module" src="/app.js"></script>
</body>
</html>
`)
}
