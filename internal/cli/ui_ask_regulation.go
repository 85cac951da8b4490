package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// regulationAnswer is how the apps of each System are: the documents of regulate status, with where
// the System is.
type regulationAnswer struct {
	Systems []map[string]any `json:"systems"`
	// Unavailable is why nothing of them is known.
	Unavailable string `json:"unavailable,omitempty"`
}

// regulation asks for the Systems that were adopted, and for each how its apps are. A snapshot holds
// no manifests; of the example, that is in the binary.
func (a *uiAPI) regulation(ctx context.Context, _ url.Values) (json.RawMessage, error) {
	out := regulationAnswer{Systems: []map[string]any{}}
	switch a.o.From {
	case "":
	case "demo":
		if err := a.status(ctx, &out, "", "demo", "-f", "demo"); err != nil {
			return nil, err
		}
		return json.Marshal(out)
	default:
		out.Unavailable = "a snapshot has no manifest of a System: kubectl sysop regulate status -f FILE --from SNAPSHOT reads one of yours"
		return json.Marshal(out)
	}
	text, err := a.command(ctx, "system", "list")
	if err != nil {
		out.Unavailable = "Systems could not be listed: " + err.Error()
		return json.Marshal(out)
	}
	var list view.SystemsDocument
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	if len(list.Systems) == 0 {
		out.Unavailable = "no System was adopted here: kubectl sysop system init writes the manifest of one, and system adopt adopts it"
	}
	for _, s := range list.Systems {
		if err := a.status(ctx, &out, s.Namespace, s.System, s.System); err != nil {
			out.Systems = append(out.Systems, map[string]any{"name": s.System, "namespace": s.Namespace, "unavailable": err.Error()})
		}
	}
	return json.Marshal(out)
}

// status adds the document of one System.
func (a *uiAPI) status(ctx context.Context, out *regulationAnswer, namespace, name string, args ...string) error {
	text, err := a.commandIn(ctx, namespace, append([]string{"regulate", "status"}, args...)...)
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("read the status of %s: %w", name, err)
	}
	if _, named := doc["name"]; !named {
		doc["name"] = name
	}
	doc["namespace"] = namespace
	out.Systems = append(out.Systems, doc)
	return nil
}
