package relation

import "strings"

// FieldHosts visits the Services that a text field of a custom resource can mean
// as hosts, each once, with what may be shown of the text. key is the last key of
// the field's path, port says that the object which holds it has a port, too.
//
// The key has to say that a host stands there, by the rule for variables; and
// where it may as well be an address of the object's own (hosts, gateway, target)
// or the property of a program (rest.address), so has the text: by a port, a scheme
// or a name that is qualified by svc.
func FieldHosts(key, text, namespace string, port bool, visit func(namespace, service, shown string)) {
	strong, ok := fieldMeaning(key)
	if !ok || len(text) > maxText || strings.IndexByte(text, ' ') >= 0 {
		return
	}
	plain := strings.IndexByte(text, ':') < 0
	if plain && (strings.EqualFold(key, "hosts") || strings.EqualFold(key, "hostnames")) {
		return // Of a router: what it is reached under.
	}
	bare := plain && (port || strong && strings.IndexByte(text, '.') < 0)
	envHost(template{namespace: namespace}, text, bare, visit)
}

// SaysHost says whether FieldHosts would look at what stands under a key.
func SaysHost(key string) bool { _, ok := fieldMeaning(key); return ok }

// fieldMeaning says whether a key says host, and whether a single word under it
// is one.
func fieldMeaning(key string) (strong, ok bool) {
	if variable(key) != hostValue {
		return false, false
	}
	last := ""
	for start := 0; start < len(key); {
		end := wordEnd(key, start)
		if end > start {
			last = key[start:end]
			if isOwnAddress(last) {
				return false, false
			}
		}
		for start = end; start < len(key) && !isLetter(key[start]); start++ {
		}
	}
	switch {
	case strings.EqualFold(last, "name"), strings.EqualFold(last, "names"):
		return false, false // Of a Service, if of anything: a reference.
	}
	for _, s := range [...]string{"host", "addr", "address", "addresses", "url", "urls", "uri", "uris", "endpoint", "endpoints", "broker", "brokers", "servers", "dsn"} {
		if n := len(last) - len(s); n >= 0 && strings.EqualFold(last[n:], s) {
			return strings.IndexByte(key, '.') < 0 && strings.IndexByte(key, '-') < 0, true
		}
	}
	return false, true
}

// isOwnAddress tells words of addresses under which something is reached, instead
// of what it calls.
func isOwnAddress(word string) bool {
	for _, w := range [...]string{"redirect", "redirects", "callback", "root", "site", "homepage", "home", "base", "frontend", "ingress", "route", "console", "logout", "documentation", "docs", "icon", "logo", "source", "repo", "repository", "git", "image", "self"} {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// IsTracing says whether a key is that of settings of a system to which programs
// send traces, and tell what they are called: they work without it. A component
// that is named after one (jaegerQuery) is something else.
func IsTracing(key string) bool {
	traces, last := false, ""
	for start := 0; start < len(key); {
		end := wordEnd(key, start)
		if end > start {
			last = key[start:end]
			traces = traces || wordClass(last) == tracesWord
		}
		for start = end; start < len(key) && !isLetter(key[start]); start++ {
		}
	}
	if !traces || wordClass(last) == tracesWord {
		return traces
	}
	switch strings.ToLower(last) {
	case "exporter", "exporters", "collector", "agent", "config", "configuration", "options", "settings", "backend":
		return true
	}
	return false
}
