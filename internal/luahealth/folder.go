package luahealth

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// scriptFile is the file of a kind's directory that gives its health; the others are of
// Argo CD's tests and actions.
const scriptFile = "health.lua"

// maxScripts is ten times what Argo CD has.
const maxScripts = 5000

// OfFolder returns the customizations of a directory in the layout of Argo CD's
// resource_customizations: GROUP/KIND/health.lua, or KIND/health.lua of the core group, with
// _ for the wildcard *. name is that of the directory, for people. Of several patterns that a
// kind fits, the first by the names of the directories counts. Libraries are open to all of
// them, as they are in Argo CD.
func OfFolder(name string, folder fs.FS) (*Set, []string, error) {
	var all []*customization
	var notes []string
	err := fs.WalkDir(folder, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path.Base(at) != scriptFile || !d.Type().IsRegular() {
			return nil
		}
		if len(all) == maxScripts {
			return fmt.Errorf("more than %d files called %s", maxScripts, scriptFile)
		}
		c, err := readScript(name, folder, at)
		switch {
		case err != nil:
			notes = append(notes, fmt.Sprintf("%s: %v", path.Join(name, at), err))
		case c != nil:
			all = append(all, c)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return newSet(all), notes, nil
}

// readScript reads one script; nil where the file does not stand where scripts do.
func readScript(name string, folder fs.FS, at string) (*customization, error) {
	dir := path.Dir(at)
	if dir == "." || strings.Count(dir, "/") > 1 {
		return nil, nil
	}
	info, err := fs.Stat(folder, at)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxScriptBytes {
		return nil, tooLong()
	}
	text, err := fs.ReadFile(folder, at)
	if err != nil {
		return nil, err
	}
	k, err := parseKey(strings.ReplaceAll(dir, "_", "*"))
	if err != nil {
		return nil, err
	}
	return &customization{key: k, origin: path.Join(name, at), script: &script{text: string(text), open: true}}, nil
}
