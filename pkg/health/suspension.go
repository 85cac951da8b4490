package health

import (
	"strings"
)

// suspension finds objects that were told to pause: by their spec, by an annotation or by a label.
func (j *Evaluator) suspension(s *subject) (Health, bool) {
	if s.fields == nil {
		return Health{}, false
	}
	if field := pausedBy(s.spec(), 0); field != "" {
		return halt("spec." + field), true
	}
	for _, place := range [...]struct {
		name string
		m    map[string]string
	}{{"annotation ", s.Meta.GetAnnotations()}, {"label ", s.Meta.GetLabels()}} {
		for _, key := range sortedKeys(place.m) {
			if pausing(key, place.m[key]) {
				return halt(place.name + key), true
			}
		}
	}
	return Health{}, false
}

func halt(source string) Health {
	return Health{Status: Suspended, Reason: "Suspended", Message: "it is paused by its " + source}
}

// yields reports whether a suspension replaces this health: a paused object makes no progress, and
// a healthy one was stopped on purpose. A failure stays a failure.
func (h Health) yields() bool {
	return h.Status == Healthy || h.Status == Progressing
}

// pausedBy returns the field of a spec that requests a pause, or "".
func pausedBy(spec map[string]any, depth int) string {
	first := ""
	for key, value := range spec {
		field := ""
		switch v := value.(type) {
		case bool:
			if (v || depth == 0) && stops(key, v) {
				field = key
			}
		case string:
			if stopsAs(key, v) {
				field = key
			}
		case map[string]any:
			if inner := pausedIn(key, v, depth); inner != "" {
				field = key + "." + inner
			}
		}
		if field != "" && (first == "" || field < first) {
			first = field
		}
	}
	return first
}

// pausedIn searches a part of a spec.
func pausedIn(key string, part map[string]any, depth int) string {
	switch squeeze(key) {
	case "suspension", "hibernation", "suspend", "pause":
		return anyTrue(part)
	}
	if depth < 2 && nests(key) {
		return pausedBy(part, depth+1)
	}
	return ""
}

func anyTrue(m map[string]any) string {
	for _, key := range sortedKeys(m) {
		if m[key] == true {
			return key
		}
	}
	return ""
}

// nests reports the parts of a spec that configure how the whole runs.
func nests(key string) bool {
	switch key {
	case "job", "lifecycle", "reconciliation", "reconcile", "rollingUpdate", "rollout", "runPolicy", "suspendAction", "schedule":
		return true
	}
	return strings.HasSuffix(strings.ToLower(key), "strategy")
}

// stops reports booleans that request a pause.
func stops(key string, value bool) bool {
	switch squeeze(key) {
	case "suspend", "suspended", "pause", "paused", "hibernate", "hibernated", "hibernation", "stop", "stopped", "shutdown",
		"unmanaged", "disabled", "disable", "pausereconciliation", "pausereconcile", "skipreconcile", "skipreconciliation",
		"suspendreconciliation", "reconciliationpaused", "disablereconciliation", "disablereconcile", "halt", "halted", "ispaused",
		"suspendcompute", "suspendall", "pauserollout", "deactivated", "suspenddispatching", "freeze", "frozen", "onhold", "hold", "pauseupdates",
		"pausedeployment", "pauserollouts", "suspendreconcile", "suspendschedule", "maintenancemode":
		return value
	case "enable", "enabled", "active", "running", "powered", "poweredon", "activate", "reconcile":
		return !value
	}
	return false
}

// stopsAs reports words that request a pause.
func stopsAs(key, value string) bool {
	if b, ok := truth(value); ok && stops(key, b) {
		return true
	}
	switch squeeze(key) {
	case "managementstate", "state", "desiredstate", "powerstate", "runstrategy", "stoppolicy", "lifecyclestate", "desiredphase":
		switch squeeze(value) {
		case "unmanaged", "suspended", "suspend", "paused", "stopped", "halted", "hibernating", "hibernated", "hibernate",
			"shutdown", "inactive", "holdanddrain", "hold", "disabled", "off", "poweredoff", "poweroff", "stop", "pause", "deactivated", "deallocated":
			return true
		}
	}
	return false
}

// pausing reports annotations and labels that request a pause, by the part of their key after the
// prefix.
func pausing(key, value string) bool {
	_, name, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	parsed, plain := truth(value)
	switch squeeze(name) {
	case "paused", "pause", "pausereconciliation", "pausereconcile", "pauseorchestration", "reconciliationpaused", "skipreconcile",
		"skipreconciliation", "donotreconcile", "hibernation", "hibernate", "suspend", "suspended", "suspendreconciliation",
		"disablereconcile", "disablereconciliation", "reconcilepaused", "ignorereconciliation", "stopped", "stopreconcile", "onhold", "hold", "freeze", "frozen", "unmanaged", "pauserollout",
		"pausedeployment", "maintenancemode", "ispaused":
		return value == "" || plain && parsed
	case "reconcile", "reconciliation", "reconciliationloop", "managed", "reconcilepolicy", "reconciliationpolicy", "actuationmode":
		switch squeeze(value) {
		case "disabled", "suspended", "paused", "skip", "stopped", "pause", "suspend", "ignore":
			return true
		}
		return plain && !parsed
	case "managementstate":
		return strings.EqualFold(value, "unmanaged")
	case "pausedreplicas":
		return value != ""
	}
	return false
}

// squeeze removes signs and case from a name, so that skip-reconcile and skipReconcile are equal.
func squeeze(s string) string {
	var buf [maxState]byte
	out := buf[:0]
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '-', '_', '.':
		default:
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			out = append(out, c)
		}
	}
	return string(out)
}
