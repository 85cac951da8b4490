package health

import (
	"strings"
	"time"
)

// condition is one entry of a list of conditions, as written.
type condition struct {
	kind     string // its type
	said     conditionStatus
	reason   string
	message  string
	since    time.Time
	observed int64 // generation; 0 for none
	severity string

	unstated bool // it has no status
}

// conditionStatus is the status of a condition, in any spelling.
type conditionStatus uint8

const (
	unclear conditionStatus = iota
	yes
	no
	broken  // a word for trouble instead of True and False
	resting // a word for a stop
)

// readCondition returns the condition in a map, and false if it is none.
func readCondition(name string, m map[string]any) (condition, bool) {
	c := condition{kind: name}
	if c.kind == "" {
		c.kind = firstText(m, "type", "name", "conditionType")
	}
	if c.kind == "" {
		return condition{}, false
	}
	value, ok := m["status"]
	for _, key := range [...]string{"state", "phase", "value"} {
		if ok {
			break
		}
		value, ok = m[key]
	}
	if !ok {
		c.unstated, value = true, true
	}
	c.said = saying(value)
	c.reason, c.message = firstText(m, "reason"), firstText(m, "message", "description", "details", "error")
	c.since = firstTime(m, "lastTransitionTime", "lastUpdateTime", "lastUpdatedTime", "lastProbeTime", "time")
	c.observed, _ = wholeNumber(m["observedGeneration"])
	c.severity = strings.ToLower(firstText(m, "severity"))
	return c, true
}

// saying parses the status of a condition.
func saying(v any) conditionStatus {
	switch v := v.(type) {
	case bool:
		if v {
			return yes
		}
		return no
	case string:
		switch strings.ToLower(v) {
		case "true", "yes", "on":
			return yes
		case "false", "no", "off":
			return no
		}
		switch state(v, false).sense {
		case good:
			return yes
		case bad:
			return broken
		case paused:
			return resting
		}
	}
	return unclear
}

// named returns the reason of a condition, or its type.
func (c *condition) named() string {
	if c.said == no {
		return "Not" + c.kind
	}
	return c.kind
}

// defaultMessage returns a message for a condition without one.
func (c *condition) defaultMessage() string {
	words := map[conditionStatus]string{yes: "True", no: "False", unclear: "unknown", broken: "broken", resting: "stopped"}
	text := c.kind + " is " + words[c.said]
	if c.reason != "" {
		text += ": " + c.reason
	}
	return text
}
