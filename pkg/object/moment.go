package object

import "time"

// Newest returns the newest time that is told anywhere in the fields of an object:
// a snapshot is judged as of when it was taken, which is not before that. It is zero
// where no time is told. Times in the future of the object (notAfter, renewal) are not
// looked at: only those that say when something happened.
func Newest(fields map[string]any) time.Time {
	var newest time.Time
	eachTime(fields, 0, func(at time.Time) {
		if at.After(newest) {
			newest = at
		}
	})
	return newest
}

// maxDepth is how far down times and words are looked for.
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

// happened reports the fields that say when something was.
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
