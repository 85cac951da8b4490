package catalog

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Bounds of an entry. They are far above what a person writes, and keep what others wrote
// from filling the memory. The tags of Entry and Version bound the lists.
const (
	// maxEntryBytes is how many bytes an entry has, maxInlineBytes how many its manifests, maxExampleBytes
	// one of its examples, maxValuesBytes the values of a chart, written as YAML.
	maxEntryBytes, maxInlineBytes, maxExampleBytes, maxValuesBytes = 4 << 20, 2 << 20, 64 << 10, 256 << 10
	// maxItems is how long a list of a version is, maxTextBytes how many bytes a name, an
	// address or a range has.
	maxItems, maxTextBytes = 500, 1024
)

// pattern is a regular expression that is compiled when it is needed first: most commands
// read no entry.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	chartName      = pattern(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,249}$`)
	digest         = pattern(`^sha256:[0-9a-f]{64}$`)
	sum            = pattern(`^[0-9a-f]{64}$`)
	imageReference = pattern(`^[a-zA-Z0-9][a-zA-Z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$`)
	platform       = pattern(`^[a-z0-9]{1,20}/[a-z0-9_]{1,20}(/[a-z0-9.]{1,20})?$`)
	// ociReference is a repository of a registry, without a tag or digest.
	ociReference = pattern(`^oci://[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$`)
)

// textFormats are the formats of texts that the tags of an entry name: what is wrong with one.
func textFormats() strict.Formats {
	like := func(re func() *regexp.Regexp, want string) any {
		return short(want, func(text string) bool { return re().MatchString(text) })
	}
	return strict.Formats{
		"kind": kindProblem, "groupKind": groupKindProblem, "semver": line(semverProblem), "url": line(urlProblem), "oci": line(ociProblem),
		"path": line(pathProblem), "policy": line(policyProblem), "inline": inlineProblem, "fieldPath": line(fieldPathProblem), "example": exampleProblem,
		"customKind": func(text string) string {
			if !strings.Contains(text, ".") {
				return "a custom kind is written Kind.group"
			}
			return kindProblem(text)
		},
		"plural":       short("a resource name: expected that of the CRD, widgets", func(text string) bool { return len(validation.IsDNS1035Label(text)) == 0 }),
		"label":        short("a DNS label: expected lower-case letters, digits and dashes, 63 at most", func(text string) bool { return len(validation.IsDNS1123Label(text)) == 0 }),
		"object":       short("an object name: expected lower-case letters, digits, dashes and dots", func(text string) bool { return len(validation.IsDNS1123Subdomain(text)) == 0 }),
		"apiVersion":   short("an API version: expected v1, v1beta1", func(text string) bool { return len(validation.IsDNS1035Label(text)) == 0 }),
		"range":        short(`a version range: expected one such as ">=1.29 <1.36"`, func(text string) bool { _, err := semver.NewConstraint(text); return err == nil }),
		"chartVersion": short("a chart version: expected one, not a range, as v1.18.2 or 1.18.2", func(text string) bool { _, err := semver.NewVersion(text); return err == nil }),
		"chartName":    like(chartName, "a chart name: expected letters, digits, dashes, dots"),
		"digest":       like(digest, "a digest: expected sha256: and 64 hex digits in lower case"),
		"sum":          like(sum, "a SHA-256 sum: expected 64 hex digits in lower case"),
		"reference":    like(imageReference, "an image: expected REGISTRY/PATH:TAG@sha256:HEX"),
		"platform":     like(platform, "a platform: expected OS/ARCHITECTURE, as linux/arm64"),
	}
}

// line is a format of a text on one line, of a length that names, addresses and ranges have.
func line(check func(string) string) func(string) string {
	return func(text string) string {
		switch {
		case len(text) > maxTextBytes:
			return fmt.Sprintf("the text has %d bytes: expected at most %d", len(text), maxTextBytes)
		case strings.TrimSpace(text) != text || strings.ContainsFunc(text, unprintable):
			return fmt.Sprintf("%q has leading or trailing space, or invisible characters", field.Shorten(text))
		}
		return check(text)
	}
}

// short is a format of a text on one line; want is what it is not otherwise.
func short(want string, ok func(string) bool) func(string) string {
	return line(func(text string) string {
		if ok(text) {
			return ""
		}
		return fmt.Sprintf("%q is not %s", field.Shorten(text), want)
	})
}

func unprintable(c rune) bool {
	return c < ' ' || c == 0x7f || c == '\ufffd' || c == '\u2028' || c == '\u2029' || c == '\ufeff'
}

func kindProblem(text string) string {
	if wrong := declare.CheckKind(text); wrong != "" {
		return fmt.Sprintf("%q %s", field.Shorten(text), wrong)
	}
	return ""
}

func groupKindProblem(text string) string {
	if wrong := kindProblem(text); wrong != "" || strings.Contains(text, ".") {
		return wrong
	}
	return fmt.Sprintf("%q has no group: expected Kind.group", field.Shorten(text))
}

func semverProblem(text string) string {
	if _, err := semver.StrictNewVersion(text); err == nil {
		return ""
	}
	hint := ""
	if v, err := semver.NewVersion(text); err == nil {
		hint = object.DidYouMean([]string{v.String()})
	}
	return fmt.Sprintf("%q is not a version: expected MAJOR.MINOR.PATCH, without a v%s", field.Shorten(text), hint)
}

func policyProblem(text string) string {
	choices := []string{string(Upgrade), string(Install), string(Leave)}
	if slices.Contains(choices, text) {
		return ""
	}
	return fmt.Sprintf("there is no %q: expected upgrade, install or leave%s", field.Shorten(text), object.DidYouMean(object.Nearest(text, choices)))
}

// urlProblem: an http(s) address is the same for everybody, without credentials and query.
func urlProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || strings.ContainsAny(text, " \"'<>\\^`{|}"):
		return fmt.Sprintf("%q is not an address: expected https://HOST/PATH", redacted(text))
	case u.User != nil:
		return fmt.Sprintf("the address of %s has credentials: remove them, many users read a catalog", u.Host)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(text, "#"):
		return fmt.Sprintf("%q has a query or a fragment: expected https://HOST/PATH", redacted(text))
	}
	return ""
}

// redacted cuts an address where credentials could stand.
func redacted(text string) string {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		text = "..." + text[i:]
	}
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i+1] + "..."
	}
	return field.Shorten(text)
}

func ociProblem(text string) string {
	switch {
	case !strings.HasPrefix(text, "oci://"):
		return fmt.Sprintf("%q is not an OCI reference: expected oci://REGISTRY/PATH/NAME", redacted(text))
	case strings.Contains(path.Base(text), ":") || strings.Contains(text, "@"):
		return fmt.Sprintf("%q has a tag or a digest: write them as version and digest", redacted(text))
	case !ociReference().MatchString(text):
		return fmt.Sprintf("%q is not an OCI reference: expected oci://REGISTRY/PATH/NAME, in lower case", redacted(text))
	}
	return ""
}

// pathProblem: a path is that of a file of the catalog, relative to its root.
func pathProblem(text string) string {
	switch {
	case strings.ContainsAny(text, `\:`):
		return fmt.Sprintf("%q: expected a path with / between its parts, without : and \\", field.Shorten(text))
	case path.IsAbs(text) || text == "." || path.Clean(text) != strings.TrimSuffix(text, "/") || !fs.ValidPath(path.Clean(text)):
		return fmt.Sprintf("%q leaves the catalog: expected a path inside of it, relative to its root, without . and ..", field.Shorten(text))
	}
	return ""
}
