package cli

import (
	"mime"
	"strconv"
	"strings"
)

// wantsOpenMetrics reads Accept headers, as RFC 9110 has them: whether a scraper
// prefers OpenMetrics 1.0 to the older text format. Who wants neither, or says
// nothing, gets the older: everybody reads it.
func wantsOpenMetrics(accept []string) bool {
	open, plain := 0.0, 0.0
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		version := params["version"]
		switch {
		case kind == "application/openmetrics-text" && (version == "" || version == "1.0.0"):
			open = max(open, q)
		case kind == "text/plain" && (version == "" || version == "0.0.4"):
			plain = max(plain, q)
		}
	}
	return open > 0 && open >= plain
}
