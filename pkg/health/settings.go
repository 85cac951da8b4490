package health

import "strings"

// settings reports objects that others only read, so that nobody will write a status: what has no
// spec states nothing that is to be brought about, and some kinds are named for what they are. Of the
// kinds with these names most have no status in the definitions of 88 operators; of what has a status
// all the same, that is heard.
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

// stated reports objects that have something to say besides their name and their status.
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
