// Package demotest gives tests the example as JSON. To parse its YAML is half of what a
// command on it takes, and under the race detector most of it.
package demotest

import (
	"encoding/json"
	"io/fs"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/kubectl-sysop/kubectl-sysop/examples"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// FS returns the files of the example, with every document as JSON. It panics where the
// example cannot be read: other tests tell why.
var FS = sync.OnceValue(func() fs.FS {
	demo, out := examples.Demo(), fstest.MapFS{}
	files, err := fs.Glob(demo, "*.yaml")
	if err != nil {
		panic(err)
	}
	for _, name := range files {
		f, err := demo.Open(name)
		if err != nil {
			panic(err)
		}
		docs, err := source.Parse(name, f)
		_ = f.Close()
		if err != nil {
			panic(err)
		}
		var text []byte
		for _, d := range docs {
			line, err := json.Marshal(d.Object)
			if err != nil {
				panic(err)
			}
			text = append(append(text, line...), '\n')
		}
		out[strings.TrimSuffix(name, ".yaml")+".json"] = &fstest.MapFile{Data: text, Mode: 0o644}
	}
	return out
})
