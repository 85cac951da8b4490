package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// npm is the prefix of an npm package in Licensed.Module.
const npm = "npm:"

// bundled returns the npm packages that are bundled into the page, and so into every binary: those
// in ui/package-lock.json that are not only for the build. Their licence texts are in
// ui/licences/NAME, since a build of the plugin does not fetch them. Without a page there are none.
func bundled(c classifier, dir string) ([]Licensed, error) {
	lock, err := os.ReadFile(filepath.Join(dir, "ui", "package-lock.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct {
		Packages map[string]struct {
			Version   string `json:"version"`
			Integrity string `json:"integrity"`
			License   string `json:"license"`
			Dev       bool   `json:"dev"`
			// DevOptional packages are for the build only, or unused.
			DevOptional bool `json:"devOptional"`
			Optional    bool `json:"optional"`
			Peer        bool `json:"peer"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(lock, &file); err != nil {
		return nil, fmt.Errorf("ui/package-lock.json: %w", err)
	}
	var all []Licensed
	for path, p := range file.Packages {
		_, name, ok := cutLast(path, "node_modules/")
		if !ok || p.Dev || p.DevOptional || p.Optional || p.Peer {
			continue
		}
		folder := filepath.Join(dir, "ui", "licences", filepath.FromSlash(name))
		l, err := c.licensed(Licensed{Module: npm + name, Version: p.Version, Sum: p.Integrity}, folder, []string{folder})
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s %s is in the page, and ui/licences/%s has no licence of it", name, p.Version, name)
		}
		if err != nil {
			return nil, err
		}
		if l.Expression() != p.License {
			return nil, fmt.Errorf("%s %s: ui/package-lock.json says %s, and the text in ui/licences/%s is %s", name, p.Version, p.License, name, l.Expression())
		}
		all = append(all, l)
	}
	return all, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
