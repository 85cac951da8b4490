package regulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// actionText says what an action does, for people; empty for a preset, of which its signals
// tell.
func actionText(a *system.Action) string {
	switch {
	case a.Patch != nil:
		return patchText(a.Patch)
	case a.Scale != nil:
		return fmt.Sprintf("replicas = %d", a.Scale.Replicas)
	case a.Annotate != nil:
		return keysText(a.Annotate)
	case a.Label != nil:
		return keysText(a.Label)
	case a.SuspendCronJobs:
		return "spec.suspend = true"
	case a.CordonTraffic:
		return "its selector matches no pods"
	case a.Restart:
		return "its pods are replaced"
	case a.Job != nil:
		return "a Job is run to its end"
	case a.HTTP != nil:
		return postText(a.HTTP)
	case a.Exec != nil:
		return programOf(a.Exec.Command)
	}
	return ""
}

// postText says to whom is sent: the host alone, since a path or a query may be a token, and
// what is said of an action stands in the journal and in Events.
func postText(h *system.HTTP) string {
	u, err := url.Parse(h.URL)
	if err != nil || u.Host == "" {
		return "POST to an invalid URL"
	}
	return "POST to " + u.Host
}

// programOf is what is said of a command: the program alone, since arguments may be secrets.
func programOf(command []string) string {
	if len(command) == 0 {
		return "a command"
	}
	return command[0]
}

func patchText(p *system.Patch) string {
	body, err := json.Marshal(p.Body)
	if err != nil {
		body = []byte("a body that is not JSON")
	}
	text := p.Type + " patch " + string(body)
	if p.Subresource != "" {
		text += " of its " + p.Subresource
	}
	return text
}

// keysText lists annotations or labels: a deleted key has a minus suffix, as in kubectl.
func keysText(m map[string]*string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if v := m[key]; v != nil {
			parts = append(parts, fmt.Sprintf("%s=%s", key, *v))
			continue
		}
		parts = append(parts, key+"-")
	}
	return strings.Join(parts, ", ")
}
