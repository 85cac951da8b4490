package catalog

import (
	"io/fs"
	"net/url"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// urlAt reads an http(s) address that is the same for everybody: no credentials, no query.
func urlAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || strings.ContainsAny(text, " \"'<>\\^`{|}"):
		m.Report(n, "%q is not an address: expected https://HOST/PATH", redacted(text))
	case u.User != nil:
		m.Report(n, "the address of %s has credentials: remove them, many users read a catalog", u.Host)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(text, "#"):
		m.Report(n, "%q has a query or a fragment: expected https://HOST/PATH", redacted(text))
	default:
		return text
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

// ociReference is a repository of a registry, without a tag or digest.
var ociReference = pattern(`^oci://[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$`)

func ociAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	switch {
	case text == "":
	case !strings.HasPrefix(text, "oci://"):
		m.Report(n, "%q is not an OCI reference: expected oci://REGISTRY/PATH/NAME", redacted(text))
	case strings.Contains(path.Base(text), ":") || strings.Contains(text, "@"):
		m.Report(n, "%q has a tag or a digest: write them as version and digest", redacted(text))
	case !ociReference().MatchString(text):
		m.Report(n, "%q is not an OCI reference: expected oci://REGISTRY/PATH/NAME, in lower case", redacted(text))
	default:
		return text
	}
	return ""
}

// pathAt reads the path of a file of the catalogue, relative to its root.
func pathAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	switch {
	case text == "":
	case strings.ContainsAny(text, `\:`):
		m.Report(n, "%q: expected a path with / between its parts, without : and \\", field.Shorten(text))
	case path.IsAbs(text) || text == "." || path.Clean(text) != strings.TrimSuffix(text, "/") || !fs.ValidPath(path.Clean(text)):
		m.Report(n, "%q leaves the catalog: expected a path inside of it, relative to its root, without . and ..", field.Shorten(text))
	default:
		return strings.TrimSuffix(text, "/")
	}
	return ""
}
