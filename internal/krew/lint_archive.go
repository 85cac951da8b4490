package krew

import (
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// licence is what counts as a file with a licence.
var licence = regexp.MustCompile(`(?i)^(licenses?(\.txt|\.md)?|copying(\.txt)?)$`)

// bin judges the path of the executable by itself.
func (l *linter) bin(at string, p Platform) {
	at += ".bin"
	if p.Bin == "" {
		l.add(ruleBin, at, "write the path of the executable in the archive", "it is missing")
		return
	}
	if slashed := strings.ReplaceAll(p.Bin, `\`, "/"); !inside(path.Clean(slashed)) || path.Clean(slashed) == "." || strings.Contains(slashed, ":") {
		l.add(ruleBinInside, at, "write the path of the executable in the archive", "%q is not a file in the archive", p.Bin)
	}
	exe := strings.HasSuffix(strings.ToLower(p.Bin), ".exe")
	for _, on := range Platforms() {
		if !p.Selects(on) || exe == (on.OS == "windows") {
			continue
		}
		if exe {
			l.add(ruleWindows, at, "give it a platform of its own", "%q is selected for %s", p.Bin, on)
		} else {
			l.add(ruleWindows, at, "build an executable that ends in .exe", "Windows runs no %q, which is selected for %s", p.Bin, on)
		}
		return
	}
}

// archive judges what a platform's archive holds.
func (l *linter) archive(at string, p Platform) {
	if l.archives == nil || p.URI == "" {
		return
	}
	name := archiveName(p.URI)
	a, err := l.archives.open(name)
	if err != nil {
		l.add(ruleInstalls, at+".uri", "build it, or lint without archives", "there is no archive %s to look into: %s", name, err)
		return
	}
	if wholeSum.MatchString(p.SHA256) && a.SHA256 != p.SHA256 {
		l.add(ruleArchiveSum, at+".sha256", "write "+a.SHA256+", or rebuild the archive", "the sum of %s differs", name)
	}
	var entry *EntryError
	var unsupported *UnsupportedError
	switch {
	case errors.As(a.Err, &entry):
		l.add(ruleArchiveEntry, at+".uri", "pack only files and directories, by relative paths", "krew does not unpack %s: %s", name, a.Err)
	case errors.As(a.Err, &unsupported):
		l.add(ruleArchiveType, at+".uri", "pack a .tar.gz or a .zip", "krew does not unpack %s: %s", name, a.Err)
	case a.Err != nil:
		l.add(ruleInstalls, at+".uri", "pack it again", "krew does not unpack %s: %s", name, a.Err)
	default:
		l.installed(at, name, p, a)
	}
}

func (l *linter) installed(at, name string, p Platform, a *Archive) {
	// What is wrong by itself has been told.
	if p.Files != nil && len(p.Files) == 0 || slices.ContainsFunc(p.Files, File.half) {
		return
	}
	moves, err := p.Installed(a.Entries)
	if err != nil {
		l.add(ruleInstalls, at+".files", "leave files out: then everything is installed", "krew does not install %s: %s", name, err)
		return
	}
	if !slices.ContainsFunc(moves, func(m Move) bool { return licence.MatchString(path.Base(m.To)) }) {
		l.add(ruleLicence, at+".files", "pack LICENSE, and leave files out or let it have LICENSE", "none of what is installed of %s is a licence", name)
	}
	if p.Bin == "" {
		return
	}
	i := slices.IndexFunc(moves, func(m Move) bool { return m.To == path.Clean(p.Bin) })
	if i < 0 {
		l.add(ruleBinFound, at+".bin", "write the path of the executable in the archive", "%q is not among what is installed of %s", p.Bin, name)
		return
	}
	j := slices.IndexFunc(a.Entries, func(e Entry) bool { return e.Name == moves[i].From })
	if a.Entries[j].Mode&0o111 == 0 && !p.Selects(suite.Platform{OS: "windows", Arch: "amd64"}) && !p.Selects(suite.Platform{OS: "windows", Arch: "arm64"}) {
		l.add(ruleBinMode, at+".bin", "pack it with mode 0755: krew changes no modes", "%s in %s cannot be executed: its mode is %s", moves[i].From, name, a.Entries[j].Mode)
	}
}

// archiveName is the last part of an address.
func archiveName(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return path.Base(uri)
	}
	return path.Base(u.Path)
}
