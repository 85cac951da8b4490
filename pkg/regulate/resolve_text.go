package regulate

import (
	"encoding/json"
	"fmt"
	"maps"
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
		return "its selector means no pods"
	case a.Restart:
		return "its pods are replaced"
	case a.Job != nil:
		return "a Job is run to its end"
	case a.HTTP != nil:
		return "POST " + a.HTTP.URL
	case a.Exec != nil:
		return strings.Join(a.Exec.Command, " ")
	}
	return ""
}

func patchText(p *system.Patch) string {
	body, err := json.Marshal(p.Body)
	if err != nil {
		body = []byte("what cannot be written as JSON")
	}
	text := p.Type + " patch " + string(body)
	if p.Subresource != "" {
		text += " of its " + p.Subresource
	}
	return text
}

// keysText writes annotations or labels: a key that is taken away is followed by a minus, as
// kubectl has it.
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
