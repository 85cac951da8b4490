package cli

import (
	"net/http"
	"slices"
	"strings"
)

// describeRequest says in words what a request asks of an API server: "list pods in shop".
// What is no object is named by its path.
func describeRequest(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	// The server may have a path of its own before that of its API.
	at := slices.IndexFunc(parts, func(p string) bool { return p == "api" || p == "apis" })
	if at < 0 {
		return strings.ToLower(r.Method) + " " + r.URL.Path
	}
	group, rest := "", parts[at+1:]
	if parts[at] == "apis" && len(rest) > 0 {
		group, rest = rest[0], rest[1:]
	}
	if len(rest) < 2 {
		return "discover what is served at " + r.URL.Path
	}
	rest = rest[1:] // without the version
	location := ""
	if rest[0] == "namespaces" && len(rest) > 2 {
		location, rest = " in "+rest[1], rest[2:]
	}
	resource := rest[0]
	if group != "" {
		resource += "." + group
	}
	if len(rest) > 1 {
		resource += "/" + strings.Join(rest[1:], "/")
	}
	return requestVerb(r, len(rest) > 1) + " " + resource + location
}

// requestVerb is what kubectl would call a request.
func requestVerb(r *http.Request, named bool) string {
	switch r.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	switch {
	case isStream(r):
		return "watch"
	case named:
		return "get"
	}
	return "list"
}

// isStream says that the answer to a request is open-ended, with pauses in it: a watch, or a log
// that is followed.
func isStream(r *http.Request) bool {
	q := r.URL.Query()
	return q.Has("watch") || q.Get("follow") == "true"
}
