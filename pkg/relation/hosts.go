package relation

import "strings"

// host is one host in a text, with the parts of its address that may be shown: never a user, a
// password or a query.
type host struct {
	scheme string // mysql, jdbc:postgresql: on the first host of a URL
	name   string // db.shop.svc
	port   string
	path   string // on the last host of a URL; empty if it may be a secret
}

// write appends the parts that may be shown.
func (h host) write(b *strings.Builder) {
	if h.scheme != "" {
		b.WriteString(h.scheme)
		b.WriteString("://")
	}
	b.WriteString(h.name)
	if h.port != "" {
		b.WriteByte(':')
		b.WriteString(h.port)
	}
	b.WriteString(h.path)
}

// size returns the length of what write appends.
func (h host) size() int {
	n := len(h.name) + len(h.path)
	if h.scheme != "" {
		n += len(h.scheme) + len("://")
	}
	if h.port != "" {
		n += len(":") + len(h.port)
	}
	return n
}

// maxText limits the texts that are searched: longer ones are files, not addresses.
const maxText = 4096

// hostsIn visits the hosts in a text in order: in URLs of any scheme, in lists, and in the
// connection strings of databases. A single word without scheme or port counts only if bare is set.
// The text must parse as a whole, so that no part of a sentence or of a password counts as a host.
func hostsIn(text string, bare bool, visit func(host)) {
	text = strings.TrimSpace(text)
	if !mayHoldHosts(text, bare) {
		return
	}
	if strings.Contains(text, "://") {
		hostsInURLs(text, visit)
		return
	}
	if strings.IndexByte(text, '=') >= 0 {
		if names, ok := keyedHosts(text); ok {
			hostsInList(host{}, names, true, visit)
			return
		}
	}
	if strings.IndexByte(text, '@') >= 0 {
		text = afterLogin(text)
	}
	hostsInList(host{}, text, bare, visit)
}

// mayHoldHosts is a fast filter of what most variables contain: a number, a word, a path.
func mayHoldHosts(text string, bare bool) bool {
	if len(text) == 0 || len(text) > maxText || text[0] == '/' || text[0] == '.' || text[0] == '~' || text[0] == '-' {
		return false
	}
	letters := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\\':
			return false
		case c == '.' || c == ':' || c == '=':
			bare = true // these characters occur in addresses, not in single words
		case isLetter(c):
			letters = true
		}
	}
	return letters && bare
}

// hostsInURLs reads one URL or a list of them. Each starts at the start or after a separator:
// another :// is part of a query or of a password.
func hostsInURLs(text string, visit func(host)) {
	mark, start := nextURL(text, 0)
	if mark < 0 || !opening(text[:start]) {
		return
	}
	for mark >= 0 {
		scheme, from, end := text[start:mark], mark+len("://"), len(text)
		if mark, start = nextURL(text, from); mark >= 0 {
			end = start
		}
		hostsInURL(scheme, trim(text[from:end]), visit)
	}
}

// nextURL returns the offset of the next :// after from and of its scheme, or -1.
func nextURL(text string, from int) (mark, start int) {
	for {
		i := strings.Index(text[from:], "://")
		if i < 0 {
			return -1, -1
		}
		mark = from + i
		for start = mark; start > from && inScheme(text[start-1]); start-- {
		}
		if start < mark && isLetter(text[start]) && (start == 0 || text[start-1] == '=' || isSeparator(text[start-1])) {
			return mark, start
		}
		from = mark + len("://")
	}
}

// opening reports whether the text before the first URL is only a quote, a bracket, or the key of a
// pair (etcd-0=http://...).
func opening(text string) bool {
	text = trim(text)
	key, ok := strings.CutSuffix(text, "=")
	return text == "" || (ok && isKey(key))
}

// hostsInURL reads the text after a scheme.
func hostsInURL(scheme, text string, visit func(host)) {
	if spaced(text) || namesNoHost(scheme) {
		return
	}
	end := authorityEnd(text)
	if tail := text[end:]; strings.IndexByte(tail, '@') >= 0 {
		// The @ comes from a password with an unescaped character, or from the path or query. In
		// the path it counts as the end of a password unless it starts a segment (/@scope). In a
		// query it is ambiguous, and the URL is skipped.
		path := text[:end+pathEnd(tail)]
		if i := strings.LastIndexByte(path, '@'); i > end && path[i-1] != '/' {
			text = text[i+1:]
			end = authorityEnd(text)
		} else if strings.IndexByte(text[:end], ':') >= 0 && i < 0 {
			return
		}
	}
	authority, path := text[:end], text[end:]
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	if i := strings.IndexByte(authority, '('); i >= 0 {
		// user@tcp(db:3306), the format of Go's MySQL driver.
		authority, path = strings.TrimSuffix(authority[i+1:], ")"), ""
	}
	hostsInList(host{scheme: scheme, path: plainPath(path)}, authority, true, visit)
}

// namesNoHost reports whether a scheme is followed by a bucket, a claim, a file or an identity
// instead of a host: s3://backups.
func namesNoHost(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "s3", "s3a", "s3n", "gs", "gcs", "oss", "cos", "obs", "b2", "swift", "az", "azure", "azblob", "abfs", "abfss", "wasb", "wasbs", "dbfs",
		"pvc", "secret", "configmap", "hf", "file", "local", "unix", "mem", "memory", "inproc", "env", "classpath", "spiffe", "arn", "data":
		return true
	}
	return false
}

// plainPath returns the path to show, or "" if a segment of it may be a token.
func plainPath(text string) string {
	path := text[:pathEnd(text)]
	segment, digits := 0, 0
	for i := range len(path) {
		switch c := path[i]; {
		case c == '/':
			segment, digits = 0, 0
			continue
		case isDigit(c):
			digits++
		case !isLetter(c) && c != '-' && c != '_' && c != '.':
			return ""
		}
		if segment++; segment > 20 || (segment > 8 && digits > 0) {
			return ""
		}
	}
	return path
}

// hostsInList reads hosts separated by commas. like has the scheme and path of their URL.
func hostsInList(like host, list string, bare bool, visit func(host)) {
	for part := range strings.SplitSeq(list, ",") {
		if spaced(trim(part)) {
			return
		}
	}
	for remaining := true; remaining; {
		var part string
		part, list, remaining = strings.Cut(list, ",")
		part = trim(part)
		if strings.IndexByte(part, '=') >= 0 {
			return // options such as redis:6379,password=... follow the last host
		}
		h, ok := hostIn(part)
		if !ok || (!bare && h.port == "" && strings.IndexByte(h.name, '.') < 0) {
			continue
		}
		h.scheme, like.scheme = like.scheme, ""
		if !remaining && h.path == "" {
			h.path = like.path
		}
		visit(h)
	}
}

// hostIn parses name[:port][/path]. Without a port, name/path may be a file or an image, and is no
// host.
func hostIn(part string) (h host, ok bool) {
	end := authorityEnd(part)
	h.path = plainPath(part[end:])
	var colon bool
	if h.name, h.port, colon = strings.Cut(part[:end], ":"); colon {
		h.port, _, _ = strings.Cut(h.port, ":") // Oracle: db:1521:SID
		if !number(h.port) || len(h.port) > 5 {
			return host{}, false
		}
	} else if end < len(part) {
		return host{}, false
	}
	return h, isHostName(h.name)
}
