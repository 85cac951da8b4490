package field

import (
	"regexp"
	"strings"
)

// address matches a URL in a text: the scheme, what stands before the @, the host and the rest.
var address = regexp.MustCompile(`\b([A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s/"'<>]*@)?([^\s/"'<>?#@]+)[/?#][^\s"'<>]*|\b([A-Za-z][A-Za-z0-9+.-]*://)[^\s/"'<>]*@([^\s/"'<>?#@]+)`)

// HostsOnly cuts the URLs of a text down to scheme and host: paths, queries and users may be
// tokens, and the text is kept where more people read than may know them.
func HostsOnly(text string) string {
	return address.ReplaceAllString(text, "$1$2$3$4")
}

// URLScheme is the scheme of a URL, in lower case as it is compared (HTTP://HOST); empty for a text
// without ://, such as a path.
func URLScheme(text string) string {
	scheme, _, found := strings.Cut(text, "://")
	if !found {
		return ""
	}
	return strings.ToLower(scheme)
}

// IsWebURL reports whether a text is an http or https URL.
func IsWebURL(text string) bool {
	scheme := URLScheme(text)
	return scheme == "http" || scheme == "https"
}
