package health

import "strings"

// settings reports objects that others only read, so that no controller writes a status: an object
// without a spec desires nothing, and some kinds are named for what they are. In the definitions of
// 88 operators, most kinds with these names have no status; a status that exists all the same
// counts.
func (s *subject) settings() bool {
	if s.fields == nil {
		return false
	}
	if _, stated := s.fields["spec"]; !stated && s.stated() {
		return true
	}
	switch strings.ToLower(lastWord(s.Kind)) {
	case "config":
		return strings.Contains(s.Kind, "Provider") || strings.Contains(s.Kind, "Environment") || strings.Contains(s.Kind, "Runtime") || strings.Contains(s.Kind, "Image")
	case "configuration", "settings", "parameters", "preset", "template", "class", "report", "rule", "usage", "runtime", "filter",
		"middleware", "transport", "preference", "instancetype", "flavor", "blueprint", "token", "exception", "affinity", "reservation",
		"peering", "response", "scrape":
		return true
	}
	return false
}

// stated reports objects with content other than their name and their status.
func (s *subject) stated() bool {
	for key := range s.fields {
		switch key {
		case "apiVersion", "kind", "metadata", "status":
		default:
			return true
		}
	}
	return false
}
