// Package examples has small systems for trying the tool: one that is built into the binary, and
// two for the tests.
//
// A system is a snapshot: objects in the format of "kubectl get -o yaml". Next to each is its list
// of edges (NAME.edges): those that the graph of the snapshot must have and, on lines with "!",
// those that it must not.
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

// DemoSystem returns the manifest of the System with the apps of the example, for "-f demo". It is
// no part of the snapshot: a manifest is a file, and need not be in a cluster.
func DemoSystem() []byte { return slices.Clone(demoSystem) }

// Demo returns the system behind "--from demo": two Moodles and a WordPress on one MySQL cluster,
// some of it failing on purpose. The files are at the top level, and their names sort in the order
// in which to read them.
func Demo() fs.FS {
	demo, err := fs.Sub(files, "demo")
	if err != nil {
		panic(err) // only a malformed path gives an error, and this one is a constant
	}
	return demo
}
