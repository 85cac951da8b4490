package relation

import "strings"

// FieldHosts visits the Services that a text field of a custom resource may name as hosts, each
// once, with the text that may be shown. key is the last key of the field's path; port is set if
// the object that has the field has a port too.
//
// The key must suggest a host, by the rule for variables. If it may as well be the object's own
// address (hosts, gateway, target) or a property of a program (rest.address), the text must suggest
// a host too: by a port, a scheme or a name qualified by svc.
func FieldHosts(key, text, namespace string, port bool, visit func(namespace, service, shown string)) {
	strong, ok := fieldMeaning(key)
	if !ok || len(text) > maxText || strings.IndexByte(text, ' ') >= 0 {
		return
	}
	plain := strings.IndexByte(text, ':') < 0
	if plain && (strings.EqualFold(key, "hosts") || strings.EqualFold(key, "hostnames")) {
		return // a router's own address
	}
	bare := plain && (port || strong && strings.IndexByte(text, '.') < 0)
	envHost(template{namespace: namespace}, text, bare, visit)
}

// SaysHost reports whether FieldHosts reads the text under a key.
func SaysHost(key string) bool { _, ok := fieldMeaning(key); return ok }

// fieldMeaning reports whether a key suggests a host; strong is set if a single word under it is
// one.
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
		return false, false // a reference, at most to a Service
	}
	for _, s := range [...]string{"host", "addr", "address", "addresses", "url", "urls", "uri", "uris", "endpoint", "endpoints", "broker", "brokers", "servers", "dsn"} {
		if n := len(last) - len(s); n >= 0 && strings.EqualFold(last[n:], s) {
			return strings.IndexByte(key, '.') < 0 && strings.IndexByte(key, '-') < 0, true
		}
	}
	return false, true
}

// isOwnAddress reports whether a word names an address at which the object itself is reached.
func isOwnAddress(word string) bool {
	for _, w := range [...]string{"redirect", "redirects", "callback", "root", "site", "homepage", "home", "base", "frontend", "ingress", "route", "console", "logout", "documentation", "docs", "icon", "logo", "source", "repo", "repository", "git", "image", "self"} {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// IsTracing reports whether a key configures tracing: its hosts receive traces, and programs work
// without them. A component that is named after a tracing system (jaegerQuery) does not count.
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
