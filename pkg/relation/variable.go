package relation

// meaning is what the name of a variable suggests about its value.
type meaning uint8

const (
	anyValue    meaning = iota // no hint: only what looks like a host is one
	hostValue                  // a host: a single word may be one
	secretValue                // a secret, an image, a version: never a host
	otherValue                 // hosts that are not needed: of traces, of clients, of proxies' exceptions
)

// variable classifies a value by the words of its name: DB_HOST, kafkaBrokers, PGHOST. The last
// word matters most (TOKEN_URL is a URL, SERVICE_TOKEN a token). An earlier word that suggests
// another meaning (SERVER_NAME, PROXY_MODE) outweighs one that suggests a host. SERVICE_NAME alone
// is the program's own name, as are OTEL_SERVICE_NAME and DD_SERVICE in traces; MY_SERVICE_NAME and
// DB_SERVICE_NAME name a Service.
func variable(name string) meaning {
	var secret, other, isHost, traces bool
	words, excluded := 0, false
	previous, last := anyWord, anyWord
	for start := 0; start < len(name); {
		end := wordEnd(name, start)
		if end > start {
			words++
			previous, last = last, wordClass(name[start:end])
			traces = traces || last == tracesWord
			excluded = excluded || last == neverWord
			secret = secret || last == secretWord
			other = other || last == otherWord
			isHost = isHost || last == hostWord || last == hostOnlyWord || last == serviceWord
		}
		for start = end; start < len(name) && !isLetter(name[start]); start++ {
		}
	}
	switch {
	case excluded || traces:
		// A program works without the receiver of its traces, and does not call the hosts of
		// NO_PROXY, ALLOWED_ORIGINS, PUBLIC_URL and LISTEN_ADDR.
		return otherValue
	case last == hostWord, last == nameWord && previous == hostOnlyWord, last == hostOnlyWord, last == serviceWord:
		return hostValue
	case last == nameWord && previous == serviceWord && words > 2:
		return hostValue
	case secret:
		return secretValue
	case other || last == nameWord || last == serviceWord || !isHost:
		return anyValue
	}
	return hostValue
}

// wordEnd returns the end of the word at i: before a character that is no letter, before a capital
// after a small letter (dbHost), and before the last capital of a run that a small letter follows
// (DBHost).
func wordEnd(s string, i int) int {
	for i++; i < len(s) && isLetter(s[i]); i++ {
		if isUpper(s[i]) && (isLower(s[i-1]) || (i+1 < len(s) && isLower(s[i+1]))) {
			break
		}
	}
	return min(i, len(s))
}

type word uint8

const (
	anyWord word = iota
	hostWord
	hostOnlyWord // host: followed by name, still a host
	serviceWord
	tracesWord // a tracing system and its settings
	neverWord
	nameWord
	otherWord
	secretWord
)

// wordClass classifies one word, in any case.
func wordClass(s string) word {
	var buf [16]byte
	if len(s) > len(buf) {
		return anyWord
	}
	for i := range len(s) {
		c := s[i]
		if isUpper(c) {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	w := buf[:len(s)]
	switch string(w) {
	case "host":
		return hostOnlyWord
	case "hosts", "hostname", "hostnames", "addr", "addrs", "address", "addresses", "url", "urls", "uri", "uris",
		"server", "servers", "services", "endpoint", "endpoints", "broker", "brokers", "bootstrap",
		"dsn", "upstream", "upstreams", "target", "targets", "backend", "backends", "peer", "peers", "nodes",
		"master", "primary", "replica", "proxy", "gateway", "registry":
		return hostWord
	case "service", "svc":
		return serviceWord
	case "otel", "otlp", "telemetry", "dd", "datadog", "apm", "jaeger", "tracing", "trace", "zipkin", "newrelic", "sentry":
		return tracesWord
	case "no", "cors", "allow", "allowed", "deny", "denied", "origin", "origins", "public", "external", "exclude", "excluded", "ignore", "ignored", "trusted",
		"listen", "listener", "listeners", "bind", "advertise", "advertised", "announce", "announced":
		return neverWord
	case "name", "names":
		return nameWord
	case "user", "username", "login", "mode", "type", "kind", "log", "level", "format", "path", "file", "dir", "port", "ports",
		"prefix", "suffix", "id", "env", "environment", "enabled", "enable", "timeout", "version", "class", "region", "zone", "method", "protocol", "strategy":
		return otherWord
	case "password", "passwd", "pwd", "pass", "passphrase", "secret", "secrets", "token", "tokens", "credential", "credentials",
		"cred", "creds", "key", "keys", "apikey", "salt", "image", "images", "tag", "sha", "checksum":
		return secretWord
	case "ghost", "localhost", "curl":
		return anyWord // they only end like a host
	}
	return suffixClass(w)
}

// suffixClass classifies words without a separator: pghost, databaseurl, dbaddr.
func suffixClass(w []byte) word {
	for _, suffix := range [...]string{"host", "hosts", "url", "uri", "addr", "servers", "brokers"} {
		if n := len(w) - len(suffix); n > 0 && string(w[n:]) == suffix {
			return hostWord
		}
	}
	return anyWord
}
