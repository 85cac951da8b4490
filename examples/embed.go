// Package examples holds small systems to try the tool on: one that is built into the binary, and two that only the tests read.
//
// A system is a snapshot, that is, objects as "kubectl get -o yaml" shows them. Beside each lies its list of edges
// (NAME.edges): what the graph of that snapshot must hold and, on lines that begin with "!", what it must not.
package examples

import (
	"embed"
	"io/fs"
	"slices"
)

//go:embed demo/*.yaml
var files embed.FS

//go:embed demo-system.yaml
var demoSystem []byte

// DemoSystem is the manifest of the System that the apps of the example make, for "-f demo". It is no part of the
// snapshot: a manifest is a file, and need not be in a cluster.
func DemoSystem() []byte { return slices.Clone(demoSystem) }

// Demo is the system behind "--from demo": two Moodles and a WordPress on one MySQL cluster, some of it failing on
// purpose. The files lie at its top level and their names sort in the order in which they are meant to be read.
func Demo() fs.FS {
	demo, err := fs.Sub(files, "demo")
	if err != nil {
		panic(err) // only a malformed path gives an error, and this one is a constant
	}
	return demo
}
