package fetch

import (
	"net/url"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

// Shown is the address of a catalog, a chart or a manifest for people: in errors, notes and
// tables. One with a user or a query, which may have tokens, is shown by its host
// alone; a digest at its end stays.
func Shown(address string) string {
	rest, digest := address, ""
	if at := strings.LastIndex(address, "#"+digestPrefix); at >= 0 {
		rest, digest = address[:at], address[at:]
	}
	if !strings.Contains(rest, "://") {
		return address // a path
	}
	u, err := url.Parse(rest)
	if err != nil || u.Host == "" {
		return "(an address that cannot be read)"
	}
	if u.Scheme == "oci" && u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		return address
	}
	return shown(u) + digest
}

func shown(u *url.URL) string {
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return u.Host
	}
	return u.String()
}

var addresses = lazyregexp.New(`(?i)https?://[^\s"'<>]+`)

// withoutSecrets shows the addresses in a text of others as shown does: the errors of
// libraries have them whole.
func withoutSecrets(text string) string {
	return addresses.ReplaceAllStringFunc(text, func(address string) string {
		u, err := url.Parse(address)
		switch {
		case err != nil:
			return "(an address)"
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return u.Host
		}
		return address
	})
}
