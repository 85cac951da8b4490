package web

import (
	"context"
	"encoding/json"
	"net/url"
	"sync"
	"time"
)

// answerAge is for how long an answer is given again that took a whole reading of the cluster.
const answerAge = 15 * time.Second

// cachedAnswer is an answer that is being made, or was made a short time ago.
type cachedAnswer struct {
	mu   sync.Mutex
	at   time.Time
	text json.RawMessage
}

// keeping has a question asked once for all who ask it at about the same time.
func keeping(answer Answer) Answer {
	const several = 16
	var mu sync.Mutex
	shown := map[string]*cachedAnswer{}
	return func(ctx context.Context, query url.Values) (json.RawMessage, error) {
		key := query.Encode()
		mu.Lock()
		k := shown[key]
		if k == nil {
			if len(shown) >= several {
				clear(shown)
			}
			k = &cachedAnswer{}
			shown[key] = k
		}
		mu.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.text != nil && time.Since(k.at) < answerAge {
			return k.text, nil
		}
		text, err := answer(ctx, query)
		if err != nil {
			return nil, err
		}
		k.at, k.text = time.Now(), text
		return text, nil
	}
}
