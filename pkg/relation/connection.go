package relation

import "strings"

// keyedHosts returns the value of the host's key in a connection string of pairs: host=db
// port=5432, or Server=db,1433;Database=shop. ok is false unless every part is a pair.
func keyedHosts(text string) (hosts string, ok bool) {
	sep := " "
	if strings.IndexByte(text, ';') >= 0 {
		sep = ";"
	}
	for part := range strings.SplitSeq(text, sep) {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		key, val, found := strings.Cut(part, "=")
		if !found || !isKey(key) {
			return "", false
		}
		if hosts == "" && isHostKey(strings.TrimSpace(key)) {
			hosts = strings.TrimPrefix(trim(val), "tcp:")
		}
	}
	return hosts, true
}

func isHostKey(key string) bool {
	for _, k := range [...]string{"host", "hostname", "server", "data source", "datasource", "addr", "address", "endpoint"} {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}

// afterLogin returns the text after user:password@ in a text without a scheme. It is empty for an @
// without a password, such as an e-mail address, and for an @ in the value of an option.
func afterLogin(text string) string {
	if i := strings.LastIndex(text, "@tcp("); i >= 0 && strings.IndexByte(text[:i], ':') >= 0 {
		if inner, _, closed := strings.Cut(text[i+len("@tcp("):], ")"); closed {
			return inner
		}
	}
	i := strings.LastIndexByte(text, '@')
	if strings.IndexByte(text[:i], ':') < 0 || strings.IndexByte(text[:i], '=') >= 0 {
		return ""
	}
	return strings.TrimPrefix(text[i+1:], "//")
}
