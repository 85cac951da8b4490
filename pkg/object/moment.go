package object

import "time"

// Newest returns the latest time in the fields of an object that say when something happened, or
// the zero time. A snapshot cannot be older than that, so ages in it are computed from there.
// Fields with times in the future (notAfter, renewal) do not count.
func Newest(fields map[string]any) time.Time {
	var newest time.Time
	eachTime(fields, 0, func(at time.Time) {
		if at.After(newest) {
			newest = at
		}
	})
	return newest
}

// maxDepth limits how deep nested fields are searched.
const maxDepth = 8

func eachTime(v any, depth int, found func(time.Time)) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if text, ok := value.(string); ok {
				if happened(key) {
					if at, err := time.Parse(time.RFC3339, text); err == nil {
						found(at)
					}
				}
				continue
			}
			eachTime(value, depth+1, found)
		}
	case []any:
		for _, value := range v {
			eachTime(value, depth+1, found)
		}
	}
}

// happened reports whether a field says when something happened.
func happened(key string) bool {
	switch key {
	case "creationTimestamp", "time", "lastTransitionTime", "lastUpdateTime", "lastUpdatedTime", "lastProbeTime",
		"lastHeartbeatTime", "lastHeartBeatTime", "startTime", "startedAt", "completionTime", "finishedAt",
		"lastScheduleTime", "lastSuccessfulTime", "refreshTime", "lastSyncTime", "firstTimestamp", "lastTimestamp", "eventTime",
		"renewTime", "lastRefreshTime", "finished", "started":
		return true
	}
	return false
}
