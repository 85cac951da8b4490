package krew

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

var (
	safeName = regexp.MustCompile(`^[\w-]+$`)
	device   = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[1-9]|lpt[1-9])$`)
	wholeSum = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// structure is what krew asks of the manifest as a whole.
func (l *linter) structure() {
	m := l.manifest
	if m.APIVersion != APIVersion {
		l.add(ruleAPIVersion, "apiVersion", "write "+APIVersion, "%q", m.APIVersion)
	}
	if m.Kind != Kind {
		l.add(ruleKind, "kind", "write "+Kind, "%q", m.Kind)
	}
	name := m.Metadata.Name
	if !safeName.MatchString(name) || device.MatchString(name) {
		l.add(ruleSafeName, "metadata.name", "use letters, digits and dashes", "%q is not a name for a plugin", name)
	}
	base := path.Base(strings.ReplaceAll(l.file, `\`, "/"))
	if path.Ext(base) != Extension {
		l.add(ruleExtension, "", "call the file "+name+Extension, "the file is called %s", base)
	}
	if file := strings.TrimSuffix(base, path.Ext(base)); file != name {
		l.add(ruleFileName, "metadata.name", "call the file "+name+Extension+", or the plugin "+file, "%q is in the file %s", name, base)
	}
	switch short := m.Spec.ShortDescription; {
	case short == "":
		l.add(ruleShort, "spec.shortDescription", "say what the plugin does in one line", "it is missing")
	case strings.ContainsAny(short, "\r\n"):
		l.add(ruleShort, "spec.shortDescription", "write one line, without | before it", "it has a line break")
	}
	if err := suite.CheckVersion(m.Spec.Version); err != nil {
		l.add(ruleVersion, "spec.version", "write all three numbers after a v", "%s", err)
	}
	if len(m.Spec.Platforms) == 0 {
		l.add(rulePlatforms, "spec.platforms", "add a platform for each archive", "there is none")
	}
}

// platforms judges each platform by itself, and then all of them together.
func (l *linter) platforms() {
	for i, p := range l.manifest.Spec.Platforms {
		at := field.Item("spec.platforms", i)
		l.source(at, p)
		l.files(at, p)
		l.bin(at, p)
		if l.selector(at, p) {
			l.matches(at, p)
		}
		l.archive(at, p)
	}
	l.overlaps()
}

func (l *linter) source(at string, p Platform) {
	switch {
	case p.URI == "":
		l.add(ruleURI, at+".uri", "write where the archive is", "it is missing")
	case !strings.HasPrefix(p.URI, "https://") && !strings.HasPrefix(p.URI, "http://"):
		l.add(ruleScheme, at+".uri", "serve the archive by https; for one on disk use --manifest with --archive", "krew cannot fetch %s", p.URI)
	}
	switch {
	case p.SHA256 == "":
		l.add(ruleSum, at+".sha256", "write the output of sha256sum for the archive", "it is missing")
	case !wholeSum.MatchString(p.SHA256):
		remedy := "write the output of sha256sum for the archive"
		if wholeSum.MatchString(strings.ToLower(p.SHA256)) {
			remedy = "write it in lower case"
		}
		l.add(ruleSum, at+".sha256", remedy, "%q is not 64 lower-case hexadecimal digits", p.SHA256)
	}
}

func (l *linter) files(at string, p Platform) {
	if p.Files == nil {
		return
	}
	if len(p.Files) == 0 {
		l.add(ruleFiles, at+".files", "leave it out: then everything is installed", "it is empty")
	}
	for i, f := range p.Files {
		if f.half() {
			l.add(ruleFiles, field.Item(at+".files", i), "write from and to", "one of from and to is missing")
		}
	}
	if slices.Equal(p.Files, everything()) {
		l.add(ruleDefaultFiles, at+".files", "leave it out", "it states the default")
	}
}

func (l *linter) selector(at string, p Platform) bool {
	at += ".selector"
	s := p.Selector
	if s == nil || s.MatchLabels == nil && len(s.MatchExpressions) == 0 {
		l.add(ruleSelector, at, "write matchLabels with os and arch", "it is missing or empty")
		return false
	}
	before := len(l.found)
	if s.MatchLabels != nil && len(s.MatchLabels) == 0 {
		l.add(ruleSelector, at+".matchLabels", "fill it or leave it out", "it is empty")
	}
	if s.MatchExpressions != nil && len(s.MatchExpressions) == 0 {
		l.add(ruleSelector, at+".matchExpressions", "fill it or leave it out", "it is empty")
	}
	const remedy = "select by os and arch"
	keys := make([]string, 0, len(s.MatchLabels))
	for key := range s.MatchLabels {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if key != "os" && key != "arch" {
			l.add(ruleSelector, field.Join(at+".matchLabels", key), remedy, "krew knows no key %q", key)
		}
	}
	for i, e := range s.MatchExpressions {
		if e.Key != "os" && e.Key != "arch" {
			l.add(ruleSelector, field.Item(at+".matchExpressions", i), remedy, "krew knows no key %q", e.Key)
		}
	}
	return len(l.found) == before
}

func (l *linter) matches(at string, p Platform) {
	if !slices.ContainsFunc(Platforms(), p.Selects) {
		l.add(ruleKnownPlatform, at+".selector", "expected one of "+join(Platforms()), "it matches no platform that krew runs on")
	}
}

// overlaps tells of platforms that have two archives: krew takes the first.
func (l *linter) overlaps() {
	all := l.manifest.Spec.Platforms
	first := map[[2]int][]suite.Platform{}
	var order [][2]int
	for _, on := range Platforms() {
		by := -1
		for i, p := range all {
			switch {
			case !p.Selects(on):
			case by < 0:
				by = i
			default:
				pair := [2]int{by, i}
				if first[pair] == nil {
					order = append(order, pair)
				}
				first[pair] = append(first[pair], on)
			}
		}
	}
	for _, pair := range order {
		l.add(ruleOverlap, field.Item("spec.platforms", pair[1])+".selector", "let each platform be matched by one selector",
			"%s is matched by spec.platforms[%d] as well", join(first[pair]), pair[0])
	}
}

func join[T fmt.Stringer](all []T) string {
	words := make([]string, len(all))
	for i, a := range all {
		words[i] = a.String()
	}
	return strings.Join(words, ", ")
}
